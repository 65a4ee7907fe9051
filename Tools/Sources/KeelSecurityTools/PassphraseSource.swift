internal import Foundation
internal import KeelToolSupport

/// The source of a passphrase: a file descriptor, the file that `KEEL_PASSPHRASE_FILE` names, or the terminal.
///
/// It never comes from the command line, which others on the machine can see.
package struct PassphraseSource: Sendable {
    /// The environment variable that names a file.
    package static let variable = "KEEL_PASSPHRASE_FILE"
    private static let maximumByteCount = 1 << 16

    private let descriptor: Int32?
    private let file: String?

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - descriptor: An open file descriptor, which is preferred.
    ///   - environment: The environment variables.
    package init(
        descriptor: Int32?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.descriptor = descriptor
        file = environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Reads the passphrase, or asks for it without echo.
    ///
    /// - Parameter isNew: Whether to ask twice.
    /// - Returns: The passphrase, without the line end behind it.
    /// - Throws: `ToolError` if there is none.
    package func passphrase(isNew: Bool) throws -> String {
        if let descriptor {
            return try text(
                of: FileHandle(fileDescriptor: descriptor, closeOnDealloc: false),
                "descriptor \(descriptor)"
            )
        }
        if let file {
            guard let handle = FileHandle(forReadingAtPath: file) else {
                throw ToolError(
                    "the file “\(file)” of \(Self.variable) cannot be read",
                    advice: "Create it with mode 0600, or unset the variable."
                )
            }
            return try text(of: handle, "“\(file)”")
        }
        return isNew ? try SecretPrompt.askTwice("Passphrase") : try SecretPrompt.ask("Passphrase")
    }

    private func text(of handle: FileHandle, _ name: String) throws -> String {
        var data: Data
        do {
            data = try handle.read(upToCount: Self.maximumByteCount + 1) ?? Data()
        } catch {
            throw ToolError("\(name) cannot be read", advice: "Give one that is open for reading.")
        }
        if data.last == UInt8(ascii: "\n") { data.removeLast() }
        if data.last == UInt8(ascii: "\r") { data.removeLast() }
        guard let text = String(validating: data, as: UTF8.self), !text.isEmpty,
            data.count <= Self.maximumByteCount
        else {
            throw ToolError(
                "\(name) contains no passphrase",
                advice: "Write one line of UTF-8 text into it, of at most 64 KiB."
            )
        }
        return text
    }
}
