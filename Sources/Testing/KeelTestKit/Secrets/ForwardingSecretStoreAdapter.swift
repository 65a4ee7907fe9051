package import KeelSecrets

/// An adapter that forwards to a store in memory the requirements it does not implement.
package protocol ForwardingSecretStoreAdapter: SecretStoreAdapter {
    var upstream: InMemorySecretStoreAdapter { get }
}

extension ForwardingSecretStoreAdapter {
    package func capabilities() async -> SecretStoreCapabilities { await upstream.capabilities() }

    package func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        try await upstream.read(name)
    }

    package func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        try await upstream.replace(name, with: bytes, expecting: expectation)
    }

    package func accounts(of service: String) async throws(SecretError) -> [String] {
        try await upstream.accounts(of: service)
    }
}
