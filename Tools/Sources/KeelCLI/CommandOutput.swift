import ArgumentParser
import Foundation
import KeelStorage
import KeelTerminal
import KeelToolSupport

/// The output of a command: results go to standard output, messages to standard error.
struct CommandOutput {
    /// The help of every option --json.
    static var jsonHelp: ArgumentHelp { "Writes results and errors as JSON, one object per line." }

    /// Whether the output is for a program.
    let isJSON: Bool
    /// Whether no progress is drawn, even at a terminal.
    var isQuiet = false

    var showsProgress: Bool { !isJSON && !isQuiet && isatty(STDERR_FILENO) == 1 }

    /// Returns a line that is drawn only on a terminal; with `writesData`, not if standard output is one, too.
    func progressLine(
        total: Int? = nil,
        unit: ProgressText.Unit,
        writesData: Bool = false,
        underWay: (@Sendable () -> Int)? = nil
    ) -> ProgressLine {
        let isMixed = writesData && isatty(STDOUT_FILENO) == 1
        return ProgressLine(
            total: total,
            unit: unit,
            isQuiet: !showsProgress || isMixed,
            underWay: underWay
        )
    }

    func line(_ text: String) throws {
        let shown = isatty(STDOUT_FILENO) == 1 ? Self.harmless(text) : text
        try StandardOutput.write(Array("\(shown)\n".utf8))
    }

    func line(_ text: [UInt8]) throws {
        guard isatty(STDOUT_FILENO) == 1 else {
            return try StandardOutput.write(text + [UInt8(ascii: "\n")])
        }
        try line(String(decoding: text, as: UTF8.self))
    }

    func record(_ value: some Encodable) throws {
        try line(Array(try Self.encoder().encode(value)))
    }

    /// Writes a message without passwords of URLs; for programs, as the field `message` of a record.
    func message(_ text: String) { message(text, as: ["message": Passwords.hidden(in: text)]) }

    /// Writes a message without passwords of URLs, or for programs a record as it is.
    func message(_ text: String, as record: some Encodable) {
        var text = Passwords.hidden(in: text)
        if isJSON, let line = try? Self.encoder().encode(record) {
            text = String(decoding: line, as: UTF8.self)
        }
        let shown = isatty(STDERR_FILENO) == 1 ? Self.harmless(text) : text
        try? FileHandle.standardError.write(contentsOf: Array("\(shown)\n".utf8))
    }

    /// Returns a text with U+FFFD in place of control characters, except for line breaks.
    static func harmless(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { TextWidth.harmless(String($0)) }.joined(separator: "\n")
    }

    /// Runs a command, and writes its error with advice.
    ///
    /// - Throws: `ValidationError` as it is; the exit code of another error, or else `failure`; and the exit code of a
    ///   command, unless it is `done`.
    func reporting(
        failure: ToolExit = .failed,
        _ body: () async throws -> ToolExit
    ) async throws {
        let exit: ToolExit
        do {
            exit = try await body()
        } catch let error as ValidationError {
            throw error
        } catch {
            self.failure(error)
            throw ExitCode((ToolError(describing: error).exit ?? failure).rawValue)
        }
        guard exit == .done else { throw ExitCode(exit.rawValue) }
    }

    /// Writes an error with its advice; for programs, with the name of its code.
    func failure(_ error: any Error, about place: String? = nil) {
        let described = ToolError(describing: error)
        let record = ErrorRecord(
            error: Passwords.hidden(in: described.message),
            code: described.code,
            advice: Passwords.hidden(in: described.advice),
            about: place.map(Passwords.hidden)
        )
        let text = "keel: \(place.map { "\($0): " } ?? "")\(described.message)"
        message("\(text)\n\(described.advice)", as: record)
    }

    /// Writes the reasons why documents cannot be read; returns the exit code.
    func unreadable(_ documents: some Collection<UnreadableDocument>) -> ToolExit {
        for document in documents.sorted(by: { $0.path < $1.path }) {
            failure(document.error, about: document.path.string)
        }
        return documents.isEmpty ? .done : .findings
    }

    private struct ErrorRecord: Encodable {
        let error: String
        let code: String?
        let advice: String
        let about: String?
    }

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
