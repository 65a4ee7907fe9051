import Foundation

/// A program that runs beside this one, with its output so far.
final class RunningProcess: Sendable {
    private let process = Process()
    private let output: Lines
    private let errors: Lines
    /// The input, for a program that runs until it ends.
    private let input: Pipe?

    /// The command line of the program, for the reader.
    let call: String

    var identifier: Int32 { process.processIdentifier }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: The path of the program.
    ///   - arguments: The arguments.
    ///   - password: The password in the app's environment.
    ///   - holdsInput: Whether the program's input lasts until ``stop()``, or ends at once.
    ///   - folder: An existing folder of this process for the program's output.
    /// - Throws: The system's error if the program cannot be started.
    init(
        _ program: URL,
        _ arguments: [String],
        password: String? = nil,
        holdsInput: Bool = false,
        in folder: URL
    ) throws {
        call = ([program.lastPathComponent] + arguments).joined(separator: " ")
        let name = UUID().uuidString
        output = try Lines(folder.appending(path: "\(name).out"))
        errors = try Lines(folder.appending(path: "\(name).err"))
        process.executableURL = program
        process.arguments = arguments
        // The reader's settings for their own app must not change the demonstration.
        var environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("RESTAURANTS_") }
        environment["RESTAURANTS_PASSWORD"] = password
        environment["RESTAURANTS_TELEMETRY"] =
            folder.appending(path: "telemetry-of-others").path(percentEncoded: false)
        environment["RESTAURANTS_SECRETS"] =
            folder.appending(path: "secrets").path(percentEncoded: false)
        process.environment = environment
        input = holdsInput ? Pipe() : nil
        process.standardInput = input ?? FileHandle.nullDevice
        let files = (output: try output.open(), errors: try errors.open())
        process.standardOutput = files.output
        process.standardError = files.errors
        try process.run()
        try files.output.close()
        try files.errors.close()
    }

    /// The result of a program.
    struct Outcome: Sendable {
        let status: Int32
        let output: [String]
        let errors: [String]
    }

    /// Waits until the program ends by itself.
    func outcome(within limit: Duration) async throws -> Outcome {
        try await wait(limit, for: "\(call) to end") {
            process.isRunning ? nil : true
        }
        return Outcome(
            status: process.terminationStatus,
            output: output.all(hasEnded: true),
            errors: errors.all(hasEnded: true)
        )
    }

    /// Waits for a line of output.
    func line(
        within limit: Duration,
        _ description: String,
        where isWanted: (String) -> Bool
    ) async throws -> String {
        try await wait(limit, for: "a line with \(description)") {
            // Checked before the output, so that output written before the end is seen.
            let hasEnded = !process.isRunning
            if let line = output.all(hasEnded: hasEnded).first(where: isWanted) { return line }
            guard hasEnded else { return nil }
            let reason = errors.all(hasEnded: true).first ?? "nothing"
            throw DemoFailure("\(call) has ended; it said: \(reason)")
        }
    }

    /// The program's complete lines so far.
    var said: [String] { output.all(hasEnded: !process.isRunning) }

    /// Kills the program immediately, without a chance to react.
    func kill() { Foundation.kill(identifier, SIGKILL) }

    /// Ends the program, by force if necessary.
    func stop() async {
        guard process.isRunning else { return }
        if let input {
            try? input.fileHandleForWriting.close()
        } else {
            process.terminate()
        }
        // A separate task, because the caller may be canceled and must still wait.
        let ending = Task {
            try await wait(.seconds(2), for: "the end") { process.isRunning ? nil : true }
        }
        _ = await ending.result
        if process.isRunning { kill() }
    }

    @discardableResult
    private func wait<Value>(
        _ limit: Duration,
        for description: String,
        until value: () throws -> Value?
    ) async throws -> Value {
        let start = ContinuousClock.now
        while true {
            if let value = try value() { return value }
            guard start.duration(to: .now) < limit else {
                throw DemoFailure("waited \(limit.components.seconds) s for \(description)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// The lines that a program has written to a file.
///
/// A file is used instead of a pipe because it is complete as soon as the program has ended, independent of when it is
/// read.
private struct Lines: Sendable {
    private let file: URL

    init(_ file: URL) throws {
        self.file = file
        try Data().write(to: file)
    }

    /// Opens the program's output file, which is closed here once the program has it.
    func open() throws -> FileHandle { try FileHandle(forWritingTo: file) }

    /// Returns the lines so far; an incomplete last line counts once the program has ended.
    func all(hasEnded: Bool) -> [String] {
        guard let bytes = try? Data(contentsOf: file) else { return [] }
        var lines = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        if !hasEnded || lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map(String.init)
    }
}
