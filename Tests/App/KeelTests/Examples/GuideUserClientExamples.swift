import Keel
import KeelDependencies
import KeelTestKit
import Testing

private struct User: Codable, Identifiable, Hashable, Sendable {
    var id: String
    var name: String
    var email: String
}

private struct UserClient: Sendable {
    private let users: DocumentCollection<User>

    init(_ storage: StorageClient) {
        users = storage.collection("users", as: User.self)
    }

    func currentUser() async throws(StorageError) -> User {
        try await users.get("current")
    }

    func updateProfile(_ user: User) async throws(StorageError) {
        try await users.update(
            user.id,
            [.set("name", to: user.name), .set("email", to: user.email)]
        )
    }

    func everybody() -> CollectionSnapshots<User> {
        users.listen { $0.order(by: "name") }
    }
}

private enum UserClientKey: DependencyKey {
    static var liveValue: UserClient { UserClient(StorageDependency.liveValue) }
    static var testValue: UserClient { UserClient(StorageClient(InMemoryStorageAdapter())) }
    static var previewValue: UserClient { testValue }
}

extension DependencyValues {
    fileprivate var userClient: UserClient {
        get { self[UserClientKey.self] }
        set { self[UserClientKey.self] = newValue }
    }
}

private struct ProfileFeature {
    @Dependency(\.userClient) private var users

    func rename(to name: String) async throws {
        var user = try await users.currentUser()
        user.name = name
        try await users.updateProfile(user)
    }
}

@Suite("Guide: a domain client", .timeLimit(.minutes(1)))
struct GuideUserClientExamples {
    @Test("A feature reads and writes through its client, whatever the backend")
    func feature() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        try await storage.setDocument(
            "users/current",
            ["id": "current", "name": "Ada", "email": "a"]
        )
        try await withDependencies {
            $0.userClient = UserClient(storage)
        } operation: {
            try await ProfileFeature().rename(to: "Lovelace")
        }
        #expect(try await storage.getDocument("users/current")["name"] == "Lovelace")
    }

    @Test("An update of a user who is not there is refused, and makes nobody")
    func missing() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let users = UserClient(storage)
        let error = await #expect(throws: StorageError.self) {
            try await users.updateProfile(User(id: "7", name: "Nobody", email: "n"))
        }
        #expect(error?.code == .documentNotFound)
        #expect(try await storage.findDocument("users/7") == nil)
    }

    @Test("A feature receives every change")
    func listens() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let users = UserClient(storage)
        let collection = storage.collection("users", as: User.self)
        try await collection.save(User(id: "1", name: "Ada", email: "a"))
        var seen: [[String]] = []
        for try await snapshot in users.everybody() {
            seen.append(snapshot.items.map(\.name))
            guard seen.count < 2 else { break }
            try await collection.save(User(id: "2", name: "Grace", email: "g"))
        }
        #expect(seen == [["Ada"], ["Ada", "Grace"]])
    }

    @Test("A test that sets nothing has a client of its own")
    func testValue() async throws {
        await withDependencies { _ in
        } operation: {
            @Dependency(\.userClient) var users
            await #expect(throws: StorageError.self) { try await users.currentUser() }
        }
    }
}
