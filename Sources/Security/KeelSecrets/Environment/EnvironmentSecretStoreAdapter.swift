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
    private let secrets: [SecretName: [UInt8]]

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - service: The service of the secrets.
    ///   - prefix: The prefix of the variables' names; not empty.
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
        let count = prefix.utf8.count
        var secrets: [SecretName: [UInt8]] = [:]
        for (variable, value) in variables ?? ProcessInfo.processInfo.environment {
            guard variable.utf8.starts(with: prefix.utf8), variable.utf8.count > count else {
                continue
            }
            let account = String(decoding: variable.utf8.dropFirst(count), as: UTF8.self)
            secrets[SecretName(service: service, account: account)] = Array(value.utf8)
        }
        self.secrets = secrets
    }

    public func capabilities() async -> SecretStoreCapabilities {
        SecretStoreCapabilities(kind: .environment, features: [])
    }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        secrets[name]
    }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        throw SecretError(.readOnly, "The variables of the process can only be read.")
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] {
        secrets.keys.filter { $0.service.utf8.elementsEqual(service.utf8) }.map(\.account)
    }
}

extension EnvironmentSecretStoreAdapter: CustomStringConvertible, CustomReflectable {
    /// The service.
    public var description: String { "secrets of \(service) in the environment" }

    public var customMirror: Mirror { Mirror(self, children: ["service": service]) }
}
