import Foundation
import KeelSecrets
import Testing

/// A store opened for one check, with services that no other check uses.
struct SecretStoreUnderTest: Sendable {
    let adapter: any SecretStoreAdapter
    let store: SecretStore
    private let subject: SecretStoreSubject
    private let setting: SecretStoreSubject.Setting

    static func run(
        on subject: SecretStoreSubject,
        holding contents: [String: String],
        _ body: @Sendable (SecretStoreUnderTest) async throws -> Void
    ) async throws {
        let name = "check-" + String(UInt64.random(in: .min ... .max), radix: 36)
        var secrets: [SecretName: [UInt8]] = [:]
        for (account, text) in contents {
            secrets[SecretName(service: name, account: account)] = Array(text.utf8)
        }
        let setting = SecretStoreSubject.Setting(name: name, contents: secrets)
        let adapter = try await subject.open(setting)
        let test = Self(
            adapter: adapter,
            store: try SecretStore(adapter, service: name),
            subject: subject,
            setting: setting
        )
        let result: Result<Void, any Error>
        do {
            if subject.features.contains(.writable) {
                for (account, text) in contents { try await test.store.save(text, forKey: account) }
            }
            result = .success(try await body(test))
        } catch {
            result = .failure(error)
        }
        if subject.features.contains(.writable) { try await test.clear() }
        try result.get()
    }

    var features: SecretStoreSubject.Features { subject.features }

    func other(_ suffix: String = ".other") throws -> SecretStore {
        try SecretStore(adapter, service: store.service + suffix)
    }

    func reopened() async throws -> SecretStore {
        try SecretStore(try await subject.open(setting), service: store.service)
    }

    /// Removes all secrets of the check, because other programs may use the store.
    private func clear() async throws {
        for suffix in ["", ".other", "2", "/a", ".Other"] {
            let store = try other(suffix)
            for key in try await store.list() { try await store.delete(forKey: key) }
        }
    }

    /// Returns the error code of a call; nil if it succeeds.
    func code(
        _ call: () async throws(SecretError) -> Void
    ) async -> SecretError.Code? {
        do {
            try await call()
            return nil
        } catch {
            return error.code
        }
    }
}

/// Returns bytes in which every position identifies its value.
func secretBytes(_ seed: Int, count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed &* 97 &+ $0 >> 8) })
}
