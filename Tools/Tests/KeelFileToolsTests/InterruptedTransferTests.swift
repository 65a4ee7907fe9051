#if os(Linux) || os(macOS)
import Foundation
import KeelFileTools
import KeelToolsTestSupport
import Testing

@Suite(
    "Transfers at a limited rate",
    .enabled(if: MotoServer.isPresent, MotoServer.absence),
    .timeLimit(.minutes(10))
)
struct InterruptedTransferTests: MotoTests {
    let moto: MotoFolder

    init() throws { moto = try MotoFolder() }

    private func file(_ byteCount: Int) throws -> URL {
        let file = scratch.file("large")
        try Data(repeating: 7, count: byteCount).write(to: file)
        return file
    }

    @Test(
        "A rate is a number with K, M or G",
        arguments: [
            ("16K", 16 << 10), ("2M", 2 << 20), ("1.5g", 3 << 29), ("100000", 100_000),
            ("15K", nil), ("2X", nil), ("", nil), ("M", nil), ("-2M", nil), ("nan", nil),
            ("1e300", nil),
        ] as [(String, Int?)]
    )
    func rates(text: String, expected: Int?) {
        #expect(RateLimit(text)?.bytesPerSecond == expected)
    }

    @Test("Files pass no faster than --limit-rate, in both directions")
    func limited() throws {
        let file = try file(1 << 20)
        let start = ContinuousClock.now
        #expect(try keel("put", file.path, "\(root)/a", "--limit-rate", "512K").code == 0)
        let middle = ContinuousClock.now
        // Less than the two seconds of all bytes: the first and the last piece do not wait.
        #expect(middle - start >= .seconds(1.5))
        let copy = scratch.file("copy")
        #expect(try keel("get", "\(root)/a", copy.path, "--limit-rate", "512K").code == 0)
        #expect(ContinuousClock.now - middle >= .seconds(1))
        #expect(try Data(contentsOf: copy) == Data(contentsOf: file))
        let wrong = try keel("put", file.path, "\(root)/a", "--limit-rate", "fast")
        #expect(wrong.code == 64 && wrong.errors.contains("limit-rate"))
    }

    @Test("A transfer that is interrupted leaves no file on either side")
    func interrupted() async throws {
        let file = try file(20 << 20)
        let environment = server.environment(scratch.file("cache"))
        // Each would take 40 seconds, enough to interrupt it on a busy machine too.
        let put = try TmuxTerminal(
            ["files", "put", file.path, "\(root)/b", "--limit-rate", "512K"]
                + ["--part-size", "5", "--parallel", "1"],
            columns: 200,
            environment: environment
        )
        try await put.wait(for: "the progress") { lines in
            lines.contains { $0.contains(" of 20.0 MiB, ") && $0.contains("iB/s, ") }
        }
        try put.press("C-c")
        #expect(try await put.exitCode() == 130)
        #expect(try keel("stat", "\(root)/b").code == 1)
        #expect(try keel("put", file.path, "\(root)/b").code == 0)
        let folder = scratch.file("target")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let get = try TmuxTerminal(
            [
                "files", "get", "\(root)/b", folder.appending(path: "b").path, "--limit-rate",
                "512K",
            ],
            columns: 200,
            environment: environment
        )
        try await get.wait(for: " of 20.0 MiB")
        try get.press("C-c")
        #expect(try await get.exitCode() == 130)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
#endif
