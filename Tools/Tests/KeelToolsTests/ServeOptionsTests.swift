#if os(Linux) || os(macOS)
import KeelToolsTestSupport
import Testing

@Suite("The options of keel serve")
struct ServeOptionsTests {
    @Test("A server waits for the disk unless it is told not to")
    func durability() throws {
        let help = try KeelProcess(["serve", "--help"]).wait().output
        let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("(values: power, process; default: power)"))
    }

    @Test(
        "Values that mean nothing are refused",
        arguments: [
            ["--durability", "disk"], ["--max-connections", "0"], ["--host", "0.0.0.0"],
            ["--longest-request", "0"],
        ]
    )
    func refused(options: [String]) throws {
        let end = try KeelProcess(["serve", "--storage", "memory"] + options).wait()
        #expect(end.code == 64)
    }
}
#endif
