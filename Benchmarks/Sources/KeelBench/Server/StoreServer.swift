import Foundation

/// A server process over a store of the benchmarks, which ends with this value.
final class StoreServer: Sendable {
    let port: Int
    private let process: Process
    private let input: Pipe

    /// Starts `keel serve` on a file, with the peer's durability.
    static func keel(on file: URL) throws -> StoreServer {
        try StoreServer(
            URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appending(path: "keel"),
            [
                "serve", "--storage", "sqlite:\(file.path)", "--durability", "process",
                "--port", "0", "--log-level", "critical",
            ]
        )
    }

    /// Starts the peer as another process of this program; see ``PeerServer``.
    static func peer(on file: URL) throws -> StoreServer {
        try StoreServer(URL(filePath: CommandLine.arguments[0]), [PeerServer.command, file.path])
    }

    private init(_ program: URL, _ arguments: [String]) throws {
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw NotRun("there is no program \(program.path); Scripts/bench.sh builds it")
        }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // The first line is the port, or an address that ends in it.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let digits = line.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ":").last
        guard let port = digits.flatMap({ Int($0) }) else {
            process.terminate()
            throw Flaw("\(program.lastPathComponent) did not print its port, but “\(line)”.")
        }
        (self.port, self.process, self.input) = (port, process, input)
    }

    /// Returns the server's resident memory in MiB.
    func residentMemory() throws -> Double { try ResidentMemory.of(process.processIdentifier) }

    /// Resets the peak of the server's resident memory, and returns the current value in MiB.
    func startMemory() throws -> Double { try ResidentMemory.start(of: process.processIdentifier) }

    /// Returns the peak of the server's resident memory since ``startMemory()``, in MiB.
    func peakMemory() throws -> Double { try ResidentMemory.peak(of: process.processIdentifier) }

    deinit {
        // The peer ends at the end of its input, `keel serve` on a signal.
        try? input.fileHandleForWriting.close()
        process.terminate()
        process.waitUntilExit()
    }
}
