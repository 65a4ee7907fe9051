#if os(Linux) || os(macOS)
package import Foundation

/// A run of the command that the package builds.
package final class KeelProcess {
    private let process = Process()
    private let output = Pipe()
    /// A file, not a pipe: nobody reads before the end, and a pipe that is full would prevent it.
    private let errors = URL.temporaryDirectory.appending(path: "keel-errors-\(UUID().uuidString)")
    private var buffer = Data()

    /// Starts it.
    ///
    /// - Parameters:
    ///   - arguments: What stands on the command line.
    ///   - input: What standard input holds.
    ///   - environment: Variables beside those of this process.
    ///   - folder: The working directory; nil is that of this process.
    /// - Throws: Where it cannot be started.
    package init(
        _ arguments: [String],
        input: String? = nil,
        environment: [String: String] = [:],
        in folder: URL? = nil
    ) throws {
        process.executableURL = try Self.program()
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = folder ?? process.currentDirectoryURL
        if let input {
            // A file, not a pipe: a pipe takes 64 KiB, and more would wait for a reader.
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

    deinit { try? FileManager.default.removeItem(at: errors) }

    package var isRunning: Bool { process.isRunning }

    /// The most memory that it has had so far, in bytes; nil where the system does not say.
    package var peakMemory: Int? {
        let file = "/proc/\(process.processIdentifier)/status"
        guard let status = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
    }

    /// Ends it as the system does: it has no say in it.
    package func kill() { _ = Foundation.kill(process.processIdentifier, SIGKILL) }

    package func interrupt() { process.interrupt() }

    /// The next line of output, empty at its end.
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

    /// Waits for the end.
    ///
    /// - Returns: The exit code or the number of the signal, and what was written.
    package func wait() -> (code: Int32, output: String, errors: String) {
        let output = buffer + output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let written = (try? Data(contentsOf: errors)) ?? Data()
        return (
            process.terminationStatus, String(decoding: output, as: UTF8.self),
            String(decoding: written, as: UTF8.self)
        )
    }

    /// The command, which the package builds beside the tests.
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
