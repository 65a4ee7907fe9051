import Foundation
import KeelSecrets
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import RestaurantsData
import RestaurantsDomain
import Testing

@Suite("Tokens as secrets")
struct SecretTests {
    @Test("The store’s files contain no token and no password, and the secrets contain the session")
    func tokens() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "restaurants-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "store.sqlite")
        let vault = InMemorySecretStoreAdapter()
        let app = try Instance(
            .json(ServiceJSON.grant(1)),
            on: try SQLiteStorageAdapter(at: .file(file)),
            secrets: vault
        )
        _ = try await app.accounts.signIn(EmailAddress("ada@example.com"), password: "engine")
        let favourite = Favourite(
            user: try UserID("ada"),
            restaurant: try RestaurantID("r-1"),
            since: day(0)
        )
        try await app.favourites.save(favourite)

        let files = try FileManager.default.contentsOfDirectory(
            at: folder,
            includingPropertiesForKeys: nil
        )
        let kept = try files.map { try Data(contentsOf: $0) }
        #expect(kept.contains { $0.range(of: Data("favourites".utf8)) != nil })
        for word in ["access-1", "refresh-1", "engine", "accessToken"] {
            #expect(!kept.contains { $0.range(of: Data(word.utf8)) != nil }, "\(word)")
        }
        let secrets = try SecretStore(vault, service: "restaurants")
        #expect(try await secrets.loadString(forKey: "session").contains("access-1"))
        _ = try await app.accounts.signOut()
        #expect(try await secrets.list() == [])
    }

    @Test("Unreadable secrets are an error of the device, not of the service")
    func unreadable() async throws {
        let vault = InMemorySecretStoreAdapter()
        let secrets = try SecretStore(vault, service: "restaurants")
        try await secrets.save("no JSON", forKey: "session")
        let app = try Instance(secrets: vault)
        let error = await #expect(throws: DomainError.self) {
            try await app.accounts.signedInUser()
        }
        #expect(error?.kind == .storageFailed)
    }
}
