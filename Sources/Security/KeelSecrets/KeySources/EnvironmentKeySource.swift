#if Crypto
public import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A key in an environment variable, as 64 hexadecimal digits or base64.
///
/// Child processes inherit variables, and the user's other processes can read them: prefer ``SystemdCredentialSource``
/// or ``KeyFileSource``.
public struct EnvironmentKeySource: KeyEncryptionKeySource {
    private let variable: String
    private let value: String?

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - variable: The name of the variable.
    ///   - variables: The variables; nil uses the current environment of the process.
    public init(variable: String, variables: [String: String]? = nil) {
        self.variable = variable
        value = (variables ?? ProcessInfo.processInfo.environment)[variable]
    }

    public func keyEncryptionKey() async throws -> KeyEncryptionKey {
        guard let value, value.utf8.count > KeyEncryptionKey.byteCount else {
            throw SecretError(.missingKey, "The variable \(variable) does not contain a key.")
        }
        return try KeyText.key(Array(value.utf8), from: "The variable \(variable)")
    }
}

extension EnvironmentKeySource: CustomStringConvertible, CustomReflectable {
    /// The name of the variable.
    public var description: String { "key in the variable \(variable)" }

    public var customMirror: Mirror { Mirror(self, children: ["variable": variable]) }
}
#endif
