import Foundation
import KeelConformance
import KeelSecrets
import Synchronization
import Testing

// A template of an adapter over an SDK that keeps text under keys. Copy it, replace LegacyVault with your SDK, and
// run SecretStoreCheck on the result.

/// A secret store adapter over a legacy SDK's vault.
///
/// The vault has a single name for each text, so that both parts of Keel's names become one, and bytes become text.
/// Both are Base64, which removes special characters and keeps different spellings of a character apart.
final class LegacySecretStoreAdapter: SecretStoreAdapter {
    private let vault: Mutex<LegacyVault>

    init(_ vault: sending LegacyVault) { self.vault = Mutex(vault) }

    func capabilities() async -> SecretStoreCapabilities {
        SecretStoreCapabilities(kind: .init(name: "legacy"), features: [.writable, .persistent])
    }

    func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        try vault.withLock { vault throws(SecretError) in try vault.bytes(name) }
    }

    func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        // Comparing and setting is atomic in this process only; the vault offers no more.
        try vault.withLock { vault throws(SecretError) in
            guard expectation.holds(for: try vault.bytes(name)) else { return false }
            guard vault.set(bytes.map { Data($0).base64EncodedString() }, forKey: name.key) else {
                // The vault's own text is dropped, because it could contain the key.
                throw SecretError(.saveFailed, "The vault did not take the change.")
            }
            return true
        }
    }

    func accounts(of service: String) async throws(SecretError) -> [String] {
        vault.withLock { vault in
            vault.keys.compactMap { SecretName(key: $0) }
                .filter { $0.service.utf8.elementsEqual(service.utf8) }
                .map(\.account)
        }
    }
}

extension LegacyVault {
    fileprivate func bytes(_ name: SecretName) throws(SecretError) -> [UInt8]? {
        guard let text = text(forKey: name.key) else { return nil }
        guard let bytes = Data(base64Encoded: text) else {
            throw SecretError(.damaged, "What the vault holds was not written by this adapter.")
        }
        return Array(bytes)
    }
}

extension SecretName {
    fileprivate var key: String {
        [service, account].map { Data($0.utf8).base64EncodedString() }.joined(separator: ".")
    }

    /// Decodes a name in the vault; nil if it was not encoded by this adapter.
    fileprivate init?(key: String) {
        let parts = key.split(separator: ".", omittingEmptySubsequences: false)
            .map { Data(base64Encoded: String($0)).flatMap { String(bytes: $0, encoding: .utf8) } }
        guard parts.count == 2, let service = parts[0], let account = parts[1] else { return nil }
        self.init(service: service, account: account)
    }
}

// MARK: The SDK

/// The imaginary SDK: a vault of texts.
final class LegacyVault {
    private var texts: [String: String] = [:]

    func text(forKey key: String) -> String? { texts[key] }

    /// Returns false if the vault is full or locked.
    func set(_ text: String?, forKey key: String) -> Bool {
        texts[key] = text
        return true
    }

    var keys: [String] { Array(texts.keys) }
}

// MARK: Checks

@Suite("Template of a secret store over a legacy SDK")
struct LegacySecretStoreTests {
    private static let features: SecretStoreSubject.Features = [.writable, .anyBytes, .anyNames]

    @Test("It passes the conformance checks", arguments: SecretStoreCheck.applicable(to: features))
    func promises(_ check: SecretStoreCheck) async throws {
        try await check.run(
            on: SecretStoreSubject(features: Self.features) { _ in
                LegacySecretStoreAdapter(LegacyVault())
            }
        )
    }

    @Test("Texts written by others are ignored")
    func others() async throws {
        let vault = LegacyVault()
        _ = vault.set("x", forKey: "theirs")
        _ = vault.set("x", forKey: "a.b.c")
        let store = LegacySecretStoreAdapter(vault)
        #expect(try await store.accounts(of: "theirs").isEmpty)
    }
}
