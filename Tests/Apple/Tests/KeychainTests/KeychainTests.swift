import Foundation
import Keel
import KeelConformance
import KeelCore
import KeelSecrets
import Security
import Synchronization
import Testing

@Suite("The Keychain adapter on a stand-in", .serialized)
struct KeychainTests {
    @Test("It keeps its promises", arguments: SecretStoreCheck.applicable(to: .complete))
    func promises(_ check: SecretStoreCheck) async throws {
        let adapter = try KeychainSecretStoreAdapter()
        // One actor: two could not compare bytes atomically.
        try await check.run(on: SecretStoreSubject(features: .complete) { _ in adapter })
    }

    @Test("A secret that another process adds or removes meanwhile stays so")
    func otherProcess() async throws {
        let adapter = try KeychainSecretStoreAdapter()
        let name = SecretName(service: "other process", account: "key")
        let item: [CFString: any Sendable] = [
            kSecClass: kSecClassGenericPassword, kSecUseDataProtectionKeychain: true,
            kSecAttrService: name.service, kSecAttrAccount: name.account,
        ]
        let added: [CFString: any Sendable] = [
            kSecValueData: Data([1]), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
        ]
        let whole = item.merging(added) { $1 }

        beforeChange.withLock { $0 = { #expect(SecItemAdd(whole, nil) == errSecSuccess) } }
        #expect(try await !adapter.replace(name, with: [2], expecting: .absent))
        #expect(try await adapter.read(name) == [1])

        beforeChange.withLock { $0 = { #expect(SecItemDelete(item) == errSecSuccess) } }
        #expect(try await !adapter.replace(name, with: [2], expecting: .bytes([1])))
        #expect(try await adapter.read(name) == nil)

        #expect(try await adapter.replace(name, with: [1], expecting: .absent))
        beforeChange.withLock { $0 = { #expect(SecItemDelete(item) == errSecSuccess) } }
        #expect(try await !adapter.replace(name, with: nil, expecting: .bytes([1])))

        // The keychain is not asked to remove what another process may have added.
        beforeChange.withLock { $0 = { #expect(SecItemAdd(whole, nil) == errSecSuccess) } }
        #expect(try await adapter.replace(name, with: nil, expecting: .absent))
        let hasChanged = beforeChange.withLock { $0.take() == nil }
        #expect(!hasChanged)

        #expect(try await adapter.replace(name, with: [1], expecting: .anything))
        #expect(try await adapter.replace(name, with: [2], expecting: .anything))
        #expect(try await adapter.read(name) == [2])
    }

    @Test(
        "Each status maps to its own error",
        arguments: [
            (-25_308, SecretError.Code.locked), (-34_018, .permissionDenied),
            (-25_291, .unavailable), (-128, .cancelled), (-50, .loadFailed),
        ]
    )
    func status(_ number: Int, _ code: SecretError.Code) async throws {
        let adapter = try KeychainSecretStoreAdapter()
        forcedStatus.withLock { $0 = OSStatus(number) }
        defer { forcedStatus.withLock { $0 = nil } }
        do throws(SecretError) {
            _ = try await adapter.read(SecretName(service: "a", account: "b"))
            Issue.record("it was read")
        } catch {
            #expect(error.code == code)
            #expect(error.cause as? SecretStoreStatus == .init(domain: "OSStatus", number: number))
        }
        #expect(await adapter.capabilities().problem == code)
    }

    @Test(
        "Secrets stay on this device unless synchronization or another accessibility is requested"
    )
    func accessibility() async throws {
        for (number, (adapter, expected)) in [
            (try KeychainSecretStoreAdapter(), kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly),
            (
                try KeychainSecretStoreAdapter(isSynchronized: true),
                kSecAttrAccessibleAfterFirstUnlock
            ),
            (
                try KeychainSecretStoreAdapter(accessibility: .whenUnlocked),
                kSecAttrAccessibleWhenUnlocked
            ),
        ].enumerated() {
            let name = SecretName(service: "accessibility", account: "\(number)")
            #expect(try await adapter.replace(name, with: [1], expecting: .anything))
            #expect(
                Security.accessibility(ofService: name.service, account: name.account) == expected
            )
        }
        #expect(throws: SecretError.self) {
            _ = try KeychainSecretStoreAdapter(
                accessibility: .whenUnlockedThisDeviceOnly,
                isSynchronized: true
            )
        }
    }

    @Test("A production configuration keeps secrets in the Keychain, also with an observer")
    func preset() async throws {
        let name = "preset-\(UInt64.random(in: .min ... .max))"
        let observed = KeelConfiguration.production(name, observer: KeelObserver { _ in })
        for keel in [KeelConfiguration.production(name), observed] {
            let secrets = try keel.makeSecrets()
            #expect(await secrets.capabilities().kind == .keychain)
            try await secrets.save("1", forKey: "token")
        }
        let adapter = try KeychainSecretStoreAdapter()
        let kept = try await adapter.read(SecretName(service: name, account: "token"))
        #expect(kept == Array("1".utf8))
    }
}
