internal import Foundation
internal import KeelToolSupport
internal import Synchronization

/// The source of a passphrase: the first of a file descriptor, a variable, the file that `KEEL_PASSPHRASE_FILE` names,
/// and the terminal.
package struct PassphraseSource: Sendable {
    package static let variable = "KEEL_PASSPHRASE_FILE"
    private static let maximumByteCount = 1 << 16

    private let descriptor: Int32?
    private let variable: String?
    private let environment: [String: String]
    private let read = Read()

    /// The text of the descriptor, which can be read only once, for a command that opens several files.
    private final class Read: Sendable {
        let text = Mutex<String?>(nil)
    }

    package init(
        descriptor: Int32? = nil,
        variable: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.descriptor = descriptor
        self.variable = variable
        self.environment = environment
    }

    /// Reads the passphrase, without a final line end, or asks for it without echo, twice if it is new.
    ///
    /// From a descriptor or a file, it has at most 64 KiB.
    ///
    /// - Throws: `ToolError` if there is none; `CancellationError` if the task is canceled at the terminal.
    package func passphrase(isNew: Bool) throws -> String {
        if let descriptor {
            return try read.text.withLock { known throws -> String in
                if let known { return known }
                let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
                let passphrase = try text(of: handle, "descriptor \(descriptor)")
                known = passphrase
                return passphrase
            }
        }
        if let variable {
            guard let text = environment[variable], !text.isEmpty else {
                throw ToolError(
                    "the variable \(variable) contains no passphrase",
                    advice: "Set it, or name another one."
                )
            }
            return text
        }
        if let file = environment[Self.variable], !file.isEmpty {
            guard let handle = FileHandle(forReadingAtPath: file) else {
                throw ToolError(
                    "the file “\(file)” of \(Self.variable) cannot be read",
                    advice: "Create it with mode 0600, or unset the variable."
                )
            }
            return try text(of: handle, "“\(file)”")
        }
        let advice =
            "Add --passphrase-descriptor 3 3<FILE, or set \(Self.variable) to a file that has it."
        return isNew
            ? try SecretPrompt.askTwice("Passphrase", advice: advice)
            : try SecretPrompt.ask("Passphrase", advice: advice)
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
