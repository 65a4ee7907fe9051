package import Foundation
internal import KeelToolSupport

/// Reads secrets from a terminal without echo, or from standard input.
package enum SecretPrompt {
    /// Asks at the terminal, and returns the typed line without its end.
    ///
    /// - Throws: `ToolError` without a terminal, with `advice`, if the user types nothing, or for Control-C;
    ///   `CancellationError` if the task is canceled.
    package static func ask(
        _ question: String,
        advice: String = "Pass the secret on standard input."
    ) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw ToolError("no terminal is available", advice: advice)
        }
        let handle = FileHandle(fileDescriptor: terminal, closeOnDealloc: true)
        var settings = termios()
        guard tcgetattr(terminal, &settings) == 0 else { throw unreadable }
        var silent = settings
        // Without signals as well, as Control-C would leave the echo off; it arrives as a byte.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        // As a second end of a line, it does not wait for Return.
        withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VEOL)] = interrupt }
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { throw unreadable }
        defer {
            tcsetattr(terminal, TCSAFLUSH, &settings)
            try? handle.write(contentsOf: Array("\n".utf8))
        }
        try handle.write(contentsOf: Array("\(question): ".utf8))
        var line: [UInt8] = []
        while let byte = try nextByte(of: handle), byte != UInt8(ascii: "\n") {
            line.append(byte)
            if byte == interrupt { break }
        }
        guard line.last != interrupt else {
            throw ToolError(
                "it was interrupted",
                advice: "Nothing was changed.",
                exit: .interrupted
            )
        }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw unreadable
        }
        return text
    }

    /// Asks twice for a new secret; throws as ``ask(_:advice:)``, and `ToolError` if the entries differ.
    package static func askTwice(_ question: String, advice: String) throws -> String {
        let first = try ask(question, advice: advice)
        guard try ask("\(question) again", advice: advice) == first else {
            throw ToolError("the entries differ", advice: "Nothing was changed; try again.")
        }
        return first
    }

    /// Reads a secret from standard input, without a final line end, or asks for it at a terminal.
    ///
    /// From standard input, up to `limit` + 3 bytes are read, so that a secret that is too long stays so for the store.
    /// Throws `ToolError` if there is none.
    package static func secret(_ question: String, limit: Int) throws -> Data {
        if isatty(STDIN_FILENO) == 1 { return Data(try ask(question).utf8) }
        // One byte more than the limit with a line end, so that a longer secret is refused.
        var data: Data
        do {
            data = try FileHandle.standardInput.read(upToCount: limit + 3) ?? Data()
        } catch {
            throw ToolError(
                "standard input cannot be read: \(ToolError.reason(error))",
                advice: "Write the secret to it, or run the command at a terminal."
            )
        }
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

    private static func nextByte(of terminal: FileHandle) throws -> UInt8? {
        // The wait ends when a signal cancels the task, which reading would not notice.
        var input = pollfd(fd: terminal.fileDescriptor, events: Int16(POLLIN), revents: 0)
        while poll(&input, 1, 100) == 0 { try Task.checkCancellation() }
        return try terminal.read(upToCount: 1)?.first
    }

    /// The byte of Control-C.
    private static let interrupt: UInt8 = 3

    private static let unreadable = ToolError(
        "nothing could be read from the terminal",
        advice: "Type the secret or the passphrase, and press Return."
    )
}
