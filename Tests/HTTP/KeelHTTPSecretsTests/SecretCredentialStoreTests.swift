#if Crypto
import KeelTestSupport
import Foundation
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelHTTPSecrets
import KeelSecrets
import KeelTestKit
import Testing

@Suite("Credentials in a secret store")
struct SecretCredentialStoreTests {
    private let files = SimulatedFileSystem()

    /// Returns another process's store on the same file.
    private func secrets(
        _ filling: UInt8 = 7,
        on other: SimulatedFileSystem? = nil
    ) throws -> SecretStore {
        let key = SecretFileKey.source(FilledKeySource(filling: filling))
        let file = EncryptedFileSecretStoreAdapter(
            folder: "/secrets",
            key: key,
            files: other ?? files
        )
        return try SecretStore(file, service: "app")
    }

    private func session(
        _ secrets: SecretStore,
        key: String = "session"
    ) -> AuthSession<BearerCredentials> {
        AuthSession(
            server: CountingIdentityServer(),
            store: SecretCredentialStore(secrets, key: key)
        )
    }

    @Test("A restarted app is signed in with the credentials of the last refresh")
    func persists() async throws {
        let first = session(try secrets())
        #expect(try await first.restore() == .signedOut(.notSignedIn))
        try await first.signIn { .sample(0) }
        let second = session(try secrets())
        #expect(try await second.token().value == "access-0")
        try await second.refresh()
        let third = session(try secrets())
        #expect(try await third.token().value == "access-1")
        var renewed = BearerCredentials.sample(1)
        renewed.sessionID = first.current?.sessionID
        #expect(third.current == renewed)
    }

    @Test("Credentials are replaced only if they are those that were read")
    func comparesBeforeReplacing() async throws {
        let store = SecretCredentialStore<BearerCredentials>(try secrets())
        let (first, second) = (BearerCredentials.sample(0), BearerCredentials.sample(1))
        #expect(try await store.replace(first, with: second) == false)
        try await store.save(first)
        #expect(try await store.replace(second, with: nil) == false)
        #expect(try await store.replace(first, with: second))
        #expect(try await store.load() == second)
        #expect(try await store.replace(second, with: nil))
        #expect(try await store.load() == nil)
    }

    @Test("The users of clean-ups are kept apart from the credentials, for the next process")
    func keepsUsers() async throws {
        let store = SecretCredentialStore<BearerCredentials>(try secrets())
        try await store.setUser("ann", ofCleanUp: "outbox")
        try await store.setUser("ben", ofCleanUp: "caches")
        try await store.clear()
        let other = SecretCredentialStore<BearerCredentials>(try secrets())
        #expect(try await other.user(ofCleanUp: "outbox") == "ann")
        try await other.setUser(nil, ofCleanUp: "outbox")
        #expect(try await store.user(ofCleanUp: "outbox") == nil)
        #expect(try await store.user(ofCleanUp: "caches") == "ben")
    }

    @Test("Signing out removes only its own secret")
    func signsOut() async throws {
        let secrets = try secrets()
        let session = session(secrets)
        let other = self.session(secrets, key: "other")
        try await session.signIn { .sample(0) }
        try await other.signIn { .sample(5) }
        #expect(try await secrets.list() == ["other", "session"])
        try await session.signOut()
        #expect(try await secrets.list() == ["other"])
        #expect(try await self.session(secrets).restore() == .signedOut(.notSignedIn))
        #expect(try await self.session(secrets, key: "other").token().value == "access-5")
    }

    @Test("A store that cannot be opened throws and loses nothing")
    func cannotBeOpened() async throws {
        try await session(try secrets()).signIn { .sample(0) }
        let locked = session(try secrets(8))
        let error = await expectError(AuthenticationError.self, .storeFailed) {
            try await locked.restore()
        }
        #expect((error?.cause as? SecretError)?.code == .wrongKey)
        #expect(try await session(try secrets()).token().value == "access-0")
    }

    @Test("A secret without valid credentials throws an error")
    func foreign() async throws {
        let secrets = try secrets()
        try await secrets.save("no JSON", forKey: "session")
        let error = await #expect(throws: AuthenticationError.self) {
            try await session(secrets).restore()
        }
        #expect((error?.cause as? SecretError)?.code == .invalidData)
    }

    @Test("A power failure during a refresh leaves the old credentials or the new ones")
    func powerFailure() async throws {
        let running = session(try secrets())
        try await running.signIn { .sample(0) }
        let start = files.steps.count
        try await running.refresh()
        try #require(files.steps.count > start)
        var random = SeededRandom(seed: 7)
        var found: Set<String> = []
        for count in start...files.steps.count {
            for _ in 0..<8 {
                let disk = files.disk(afterPowerFailureAt: count, using: &random)
                let left = try secrets(on: SimulatedFileSystem(disk))
                found.insert(try await session(left).token().value)
            }
        }
        #expect(found == ["access-0", "access-1"])
        let left = try secrets(
            on: SimulatedFileSystem(
                files.disk(afterPowerFailureAt: files.steps.count, using: &random)
            )
        )
        #expect(try await session(left).token().value == "access-1")
    }
}

private struct FilledKeySource: KeyEncryptionKeySource {
    let filling: UInt8

    func keyEncryptionKey() async throws -> KeyEncryptionKey {
        let bytes = [UInt8](repeating: filling, count: KeyEncryptionKey.byteCount)
        return try #require(KeyEncryptionKey(identifier: "filled \(filling)", bytes: bytes))
    }
}

/// Provides credentials with the next number.
private struct CountingIdentityServer: IdentityServer {
    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        .sample((credentials.refreshToken.flatMap { Int($0) } ?? 0) + 1)
    }
}

extension BearerCredentials {
    fileprivate static func sample(_ number: Int) -> Self {
        Self(accessToken: "access-\(number)", refreshToken: "\(number)")
    }
}
#endif
