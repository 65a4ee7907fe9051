import Foundation

/// What a program did that was run to its end.
struct ProgramRun: Sendable {
    let status: Int32
    /// What it printed, its errors included.
    let output: String

    /// Runs a program; one without a slash in its name is looked for on the `PATH`.
    @concurrent
    init(_ program: String, _ arguments: [String]) async throws {
        let process = Process()
        if program.contains("/") {
            process.executableURL = URL(filePath: program)
            process.arguments = arguments
        } else {
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [program] + arguments
        }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        // To the end of the output first: a full pipe would stop the program.
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        status = process.terminationStatus
        output = String(decoding: bytes, as: UTF8.self)
    }

    /// The last line of the output that says something, for messages.
    var lastLine: String {
        let line = output.split(separator: "\n").last { $0.contains { $0.isLetter } }
        return line.map(String.init) ?? "nothing was printed"
    }

    /// The only number that the program printed.
    func number() throws -> Double {
        let text = output.trimmingCharacters(in: .whitespacesAndNewlines)
        guard status == 0, let number = Double(text) else {
            throw Flaw("A child process ended with \(status): \(lastLine)")
        }
        return number
    }
}
