package import Foundation
internal import KeelToolSupport

/// Reads secrets: from a terminal without echo, or from standard input.
package enum SecretPrompt {
    /// Asks at the terminal.
    ///
    /// - Parameter question: The prompt.
    /// - Returns: The typed line, without its end.
    /// - Throws: An error if there is no terminal, or nothing was typed.
    package static func ask(_ question: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw ToolError(
                "no terminal is available",
                advice: "Pass the secret on standard input, or give a variable that contains it."
            )
        }
        let handle = FileHandle(fileDescriptor: terminal, closeOnDealloc: true)
        var settings = termios()
        guard tcgetattr(terminal, &settings) == 0 else { throw unreadable }
        var silent = settings
        // Without signals as well, as Control-C would leave the echo off; it arrives as a byte.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { throw unreadable }
        defer {
            tcsetattr(terminal, TCSAFLUSH, &settings)
            try? handle.write(contentsOf: Array("\n".utf8))
        }
        try handle.write(contentsOf: Array("\(question): ".utf8))
        var line: [UInt8] = []
        while let byte = try handle.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        guard !line.contains(3) else {
            throw ToolError("it was interrupted", advice: "Nothing was changed.")
        }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw unreadable
        }
        return text
    }

    /// Asks at the terminal twice, for a new secret.
    ///
    /// - Parameter question: The prompt.
    /// - Returns: The secret.
    /// - Throws: An error if the entries differ, and the errors of ``ask(_:)``.
    package static func askTwice(_ question: String) throws -> String {
        let first = try ask(question)
        guard try ask("\(question) again") == first else {
            throw ToolError("the entries differ", advice: "Nothing was changed; try again.")
        }
        return first
    }

    /// Reads a secret from standard input, or asks for it at a terminal.
    ///
    /// A final line end is removed, since nearly every program writes one.
    ///
    /// - Parameters:
    ///   - question: The prompt at a terminal.
    ///   - limit: The maximum number of bytes.
    /// - Returns: The bytes.
    /// - Throws: An error if there is no input.
    package static func secret(_ question: String, limit: Int) throws -> Data {
        if isatty(STDIN_FILENO) == 1 { return Data(try ask(question).utf8) }
        // One byte more than the limit with a line end, so that a longer secret is refused.
        var data = try FileHandle.standardInput.read(upToCount: limit + 3) ?? Data()
        if data.last == UInt8(ascii: "\n") {
            data.removeLast()
            if data.last == UInt8(ascii: "\r") { data.removeLast() }
        }
        guard !data.isEmpty else {
            throw ToolError(
                "standard input contains no secret",
                advice: "Write it to standard input, or run the command at a terminal."
            )
        }
        return data
    }

    private static let unreadable = ToolError(
        "nothing could be read from the terminal",
        advice: "Type the secret and press Return, or pass it on standard input."
    )
}
