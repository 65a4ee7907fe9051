import Foundation

/// The benchmark server in a separate process, which ends with this value.
final class ServerProcess: Sendable {
    let port: Int
    private let input: Pipe
    private let process: Process

    init() throws {
        let process = Process()
        let here = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = here.appending(path: "keel-bench-server")
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Flaw("The server did not print its port.")
        }
        (self.port, self.input, self.process) = (port, input, process)
    }

    deinit {
        // The server ends with its input.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
