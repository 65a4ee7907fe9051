import Foundation

/// The result of a program that ran to its end.
struct ProgramRun: Sendable {
    let status: Int32
    /// The output, including errors.
    let output: String

    /// Runs a program; a name without a slash is looked up in `PATH`.
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
        // The output is read to its end first, because a full pipe would block the program.
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        status = process.terminationStatus
        output = String(decoding: bytes, as: UTF8.self)
    }

    /// The last nonempty line of the output, for messages.
    var lastLine: String {
        let line = output.split(separator: "\n").last { $0.contains { $0.isLetter } }
        return line.map(String.init) ?? "nothing was printed"
    }

    /// The only number in the program's output.
    func number() throws -> Double {
        let text = output.trimmingCharacters(in: .whitespacesAndNewlines)
        guard status == 0, let number = Double(text) else {
            throw Flaw("A child process ended with \(status): \(lastLine)")
        }
        return number
    }
}

/// A script that the Python in `KEEL_PYTHON` runs.
struct PythonScript: Sendable {
    private let path: String
    /// The packages that the script imports, as error messages name them.
    private let packages: String

    /// Creates the script of this name in the folder `Peers` beside the calling file.
    init(_ name: String, with packages: String, from file: String = #filePath) {
        path = URL(filePath: file).deletingLastPathComponent().appending(path: "Peers/\(name)").path
        self.packages = packages
    }

    @discardableResult
    func interpreter() throws -> String {
        guard let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"] else {
            throw NotRun("KEEL_PYTHON names no Python with \(packages)")
        }
        return interpreter
    }

    /// Runs the script, and returns the number that it prints.
    @concurrent
    func number(_ arguments: [String]) async throws -> Double {
        let interpreter = try interpreter()
        let run = try await ProgramRun(interpreter, [path] + arguments)
        guard !run.output.contains("ModuleNotFoundError") else {
            throw NotRun("\(interpreter) lacks \(packages)")
        }
        return try run.number()
    }
}
