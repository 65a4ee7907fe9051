import Foundation
import HTTPTypes
import KeelCore
import KeelHTTPAuthentication
import Testing

@Suite("Identities of users")
struct SessionIdentityTests {
    private struct Renewing: IdentityServer {
        func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
            BearerCredentials(accessToken: "renewed", refreshToken: "r")
        }
    }

    private func session(
        _ store: some CredentialStore<BearerCredentials>
    ) -> AuthSession<BearerCredentials> {
        AuthSession(server: Renewing(), store: store)
    }

    @Test("A sign-in has a unique identity that survives renewals and restarts")
    func keepsName() async throws {
        let store = InMemoryCredentialStore<BearerCredentials>()
        let first = session(store)
        let granted = BearerCredentials(accessToken: "a", refreshToken: "r")
        try await first.signIn { granted }
        let name = try #require(await first.identity)
        #expect(first.current?.sessionID == name)
        try await first.refresh()
        #expect(await first.identity == name)
        #expect(await store.load()?.sessionID == name)
        // Without a call of `restore()` on the second session.
        #expect(await session(store).identity == name)
        // Not even with a copy of the first sign-in's credentials.
        let copy = try #require(first.current)
        try await first.signIn { copy }
        #expect(await first.identity != name)
    }

    @Test("All sign-ins to an account have one identity, from which the account cannot be read")
    func namesAccounts() async throws {
        func name(_ account: String?) async throws -> String {
            let session = session(InMemoryCredentialStore<BearerCredentials>())
            try await session.signIn(as: account) { BearerCredentials(accessToken: "a") }
            return try #require(await session.identity)
        }
        let ann = try await name("ann@example.com")
        #expect(try await name("ann@example.com") == ann)
        #expect(try await name("ben@example.com") != ann)
        #expect(try await name(nil) != ann)
        #expect(!ann.contains("ann"))
    }

    @Test("Stored credentials without an identity receive a permanent one")
    func namesOldCredentials() async throws {
        let text = #"{"accessToken": "a", "refreshToken": "r", "fields": {}}"#
        let old = try JSONDecoder().decode(BearerCredentials.self, from: Data(text.utf8))
        #expect(old.sessionID == nil)
        let store = InMemoryCredentialStore(old)
        let name = try #require(await session(store).identity)
        #expect(await store.load()?.sessionID == name)
        #expect(await session(store).identity == name)
        let saved = try JSONEncoder().encode(try #require(await store.load()))
        let loaded = try JSONDecoder().decode(BearerCredentials.self, from: saved)
        #expect(loaded.sessionID == name)
    }

    @Test("A store that cannot save the new identity loses neither credentials nor session")
    func survivesFullStore() async throws {
        let store = FullStore()
        let session = session(store)
        #expect(try await session.token().value == "a")
        #expect(await session.identity != nil)
    }

    private struct FullStore: CredentialStore {
        struct Full: Error {}
        func load() async -> BearerCredentials? { BearerCredentials(accessToken: "a") }
        func save(_ credentials: BearerCredentials) async throws { throw Full() }
        func clear() async {}
    }

    @Test("Naming stored credentials does not undo a sign-out or a renewal by another process")
    func followsOthers() async throws {
        let old = BearerCredentials(accessToken: "a", refreshToken: "r")
        var renewed = BearerCredentials(accessToken: "b", refreshToken: "s")
        renewed.sessionID = "other"
        for next in [nil, renewed] {
            let base = InMemoryCredentialStore(old)
            let session = session(OvertakenStore(base: base, next: next))
            try await session.restore()
            #expect(await base.load() == next)
            try? await session.refresh()
            let user = next?.sessionID ?? "nobody"
            #expect(await session.identity == user)
        }
    }

    /// A store in which another process replaces or removes credentials without an identity once they are read.
    private struct OvertakenStore: CredentialStore {
        let base: InMemoryCredentialStore<BearerCredentials>
        let next: BearerCredentials?

        func load() async -> BearerCredentials? {
            guard let found = await base.load() else { return nil }
            guard found.sessionID == nil else { return found }
            if let next { await base.save(next) } else { await base.clear() }
            return found
        }

        func save(_ credentials: BearerCredentials) async { await base.save(credentials) }
        func clear() async { await base.clear() }
    }

    @Test("Credentials that store no identity keep one as long as the session object lives")
    func namesOtherTypes() async throws {
        struct Own: SessionCredentials {
            var accessToken: String
            var refreshToken: String?
            var expiresAt: Date?
        }
        struct Server: IdentityServer {
            func refresh(_ credentials: Own) async throws -> Own { Own(accessToken: "b") }
        }
        let session = AuthSession(server: Server())
        try await session.signIn { Own(accessToken: "a", refreshToken: "r") }
        let name = try #require(await session.identity)
        try await session.refresh()
        #expect(await session.identity == name)
        try await session.signIn { Own(accessToken: "a", refreshToken: "r") }
        #expect(await session.identity != name)
    }

    @Test("A fixed token keeps its identity after a restart; another token has another")
    func namesTokens() {
        #expect(StaticToken("SECRET-1").identity == StaticToken("SECRET-1").identity)
        #expect(StaticToken("SECRET-1").identity != StaticToken("SECRET-2").identity)
        #expect(StaticToken("SECRET-1").identity?.contains("SECRET") == false)
    }

    @Test("Basic credentials keep their identity after a restart; another password changes it")
    func namesPasswords() async throws {
        func name(_ user: String, _ password: String) async throws -> String {
            let credentials = try #require(BasicCredentials(user: user, password: password))
            let layer = BasicAuthorization(credentials, origins: [])
            let name = try #require(await layer.identity)
            #expect(await layer.identity == name)
            return name
        }
        let ann = try await name("ann", "SECRET")
        #expect(try await name("ann", "SECRET") == ann)
        #expect(try await name("ann", "other") != ann)
        #expect(try await name("bob", "SECRET") != ann)
        #expect(!ann.contains("SECRET") && !ann.contains("ann"))
    }
}
