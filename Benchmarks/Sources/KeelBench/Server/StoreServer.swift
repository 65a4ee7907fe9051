import Foundation

/// A server over a store of the benchmarks, in a process of its own for as long as this value lives.
final class StoreServer: Sendable {
    let port: Int
    private let process: Process
    private let input: Pipe

    /// Starts `keel serve` on a file, with commits that wait for the disk as little as the peer's.
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

    /// Starts the peer: this program again, see ``PeerServer``.
    static func peer(on file: URL) throws -> StoreServer {
        try StoreServer(
            URL(filePath: CommandLine.arguments[0]),
            [PeerServer.command, file.path]
        )
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

    /// What is resident of the server now, in MiB.
    func residentMemory() throws -> Double { try ResidentMemory.of(process.processIdentifier) }

    /// Begins to look for the peak of the server's memory anew, and returns what is resident now, in MiB.
    func startMemory() throws -> Double { try ResidentMemory.start(of: process.processIdentifier) }

    /// The most that was resident of the server since ``startMemory()``, in MiB.
    func peakMemory() throws -> Double { try ResidentMemory.peak(of: process.processIdentifier) }

    deinit {
        // The peer ends with its input, `keel serve` with a signal.
        try? input.fileHandleForWriting.close()
        process.terminate()
        process.waitUntilExit()
    }
}
