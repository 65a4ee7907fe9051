#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An adapter that reads the secrets of one service from environment variables.
///
/// With the prefix `NOTES_`, the secret `TOKEN` is the variable `NOTES_TOKEN`. The store is read-only: every change
/// fails with `readOnly`. Child processes inherit variables, and the user's other processes can read them.
public struct EnvironmentSecretStoreAdapter: SecretStoreAdapter {
    private let service: String
    private let prefix: String
    private let variables: [String: String]

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - service: The service of the secrets.
    ///   - prefix: The prefix of the variables' names; not empty, so that no unrelated variable is listed.
    ///   - variables: The variables; nil uses the current environment of the process.
    /// - Throws: ``SecretError`` with the code `invalidArgument` if the prefix is empty.
    public init(
        service: String,
        prefix: String,
        variables: [String: String]? = nil
    ) throws(SecretError) {
        guard !prefix.isEmpty else {
            throw SecretError(.invalidArgument, "The prefix of the variables is empty.")
        }
        self.service = service
        self.prefix = prefix
        let all = variables ?? ProcessInfo.processInfo.environment
        self.variables = all.filter { $0.key.hasPrefix(prefix) && $0.key != prefix }
    }

    public func capabilities() async -> SecretStoreCapabilities {
        SecretStoreCapabilities(kind: .environment, features: [])
    }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        guard name.service == service else { return nil }
        return variables[prefix + name.account].map { Array($0.utf8) }
    }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        throw SecretError(.readOnly, "The variables of the process can only be read.")
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] {
        guard service == self.service else { return [] }
        return variables.keys.map { String($0.dropFirst(prefix.count)) }
    }
}

extension EnvironmentSecretStoreAdapter: CustomStringConvertible, CustomReflectable {
    /// The service, without the variables, which are secrets.
    public var description: String { "secrets of \(service) in the environment" }

    public var customMirror: Mirror { Mirror(self, children: ["service": service]) }
}
