public class Wait {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 1000; i++) {
            byte[] garbage = new byte[100_000];
        }
        System.gc();
        System.out.println("ready");
        System.in.read();
    }
}
