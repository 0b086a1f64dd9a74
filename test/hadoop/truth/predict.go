package main

func (s *settings) report() error { return nil }
