#if Crypto
public import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A key in a variable of the process, as 64 hexadecimal digits or base64.
///
/// Child processes inherit variables, and the user's other processes can read them: prefer
/// ``SystemdCredentialSource`` or ``KeyFileSource`` where there is a choice.
public struct EnvironmentKeySource: KeyEncryptionKeySource {
    private let variable: String
    private let value: String?

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - variable: The variable's name.
    ///   - variables: The variables, those of the process at this moment when nil.
    public init(variable: String, variables: [String: String]? = nil) {
        self.variable = variable
        value = (variables ?? ProcessInfo.processInfo.environment)[variable]
    }

    public func keyEncryptionKey() async throws -> KeyEncryptionKey {
        guard let value, value.utf8.count > KeyEncryptionKey.byteCount else {
            throw SecretError(.missingKey, "The variable \(variable) holds no key.")
        }
        return try KeyText.key(Array(value.utf8), from: "The variable \(variable)")
    }
}

extension EnvironmentKeySource: CustomStringConvertible, CustomReflectable {
    /// The variable's name alone.
    public var description: String { "key in the variable \(variable)" }

    public var customMirror: Mirror { Mirror(self, children: ["variable": variable]) }
}
#endif
