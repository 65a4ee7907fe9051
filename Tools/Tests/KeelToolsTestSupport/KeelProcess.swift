#if os(Linux) || os(macOS)
package import Foundation

/// A run of the command that the package builds.
package final class KeelProcess {
    private let process = Process()
    private let output = Pipe()
    /// A file instead of a pipe, because the output is read only at the end, and a full pipe would block the process.
    private let errors = URL.temporaryDirectory.appending(path: "keel-errors-\(UUID().uuidString)")
    private var buffer = Data()

    /// Starts the process of the command, or of another program.
    ///
    /// `input` is the content of standard input, and `environment` has variables in addition to those of this process.
    package init(
        _ arguments: [String],
        input: String? = nil,
        environment: [String: String] = [:],
        in folder: URL? = nil,
        program: URL? = nil
    ) throws {
        process.executableURL = try program ?? Self.program()
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = folder ?? process.currentDirectoryURL
        if let input {
            // A file instead of a pipe, which would block after 64 KiB without a reader.
            let file = URL.temporaryDirectory.appending(path: "keel-input-\(UUID().uuidString)")
            try Data(input.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            process.standardInput = try FileHandle(forReadingFrom: file)
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        process.standardOutput = output
        try Data().write(to: errors)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
    }

    /// Starts a shell script, in which `$keel` is the command.
    package convenience init(
        shell script: String,
        environment: [String: String] = [:],
        in folder: URL? = nil
    ) throws {
        try self.init(
            ["-c", script],
            environment: environment.merging(["keel": try Self.program().path]) { $1 },
            in: folder,
            program: URL(filePath: "/bin/sh")
        )
    }

    deinit { try? FileManager.default.removeItem(at: errors) }

    package var isRunning: Bool { process.isRunning }

    /// The peak memory in bytes; nil if the system does not report it.
    package var peakMemory: Int? {
        let file = "/proc/\(process.processIdentifier)/status"
        guard let status = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
    }

    package func kill() { _ = Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Ends the process with SIGTERM.
    package func terminate() { process.terminate() }

    package func interrupt() { process.interrupt() }

    /// Sends SIGHUP, as the end of a terminal does.
    package func hangUp() { _ = Foundation.kill(process.processIdentifier, SIGHUP) }

    /// Returns the next line of output; empty at the end.
    package func nextLine() -> String {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else { return "" }
            buffer += piece
        }
    }

    /// Waits for the end of the process; returns the exit code or the number of the signal, and the output.
    package func wait() -> (code: Int32, output: String, errors: String) {
        let output = buffer + output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let written = (try? Data(contentsOf: errors)) ?? Data()
        return (
            process.terminationStatus, String(decoding: output, as: UTF8.self),
            String(decoding: written, as: UTF8.self)
        )
    }

    /// The command, built beside the tests.
    package static func program() throws -> URL {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        for _ in 0..<6 {
            let candidate = folder.appending(path: "keel")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
            folder.deleteLastPathComponent()
        }
        throw CocoaError(.fileNoSuchFile)
    }
}
#endif
