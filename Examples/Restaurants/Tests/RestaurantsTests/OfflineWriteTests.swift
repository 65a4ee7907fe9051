import Foundation
import HTTPTypes
import Keel
import KeelHTTP
import KeelSecrets
import KeelStorage
import KeelTestKit
import RestaurantsAPI
import RestaurantsData
import RestaurantsDomain
import Testing

@Suite("Choices to be sent to the service", .timeLimit(.minutes(10)))
struct OfflineWriteTests {
    private let ada: UserID
    private let email: EmailAddress
    private let favourite: Favourite
    private let rating: Rating

    init() throws {
        ada = try UserID("ada")
        email = try EmailAddress("ada@example.com")
        let gull = try RestaurantID("r-1")
        favourite = Favourite(user: ada, restaurant: gull, since: day(0))
        rating = Rating(user: ada, restaurant: gull, stars: try Stars(4), date: day(0))
    }

    /// The calls that report a choice to the service.
    private func writes(_ app: Instance) -> [ScriptedHTTPTransport.Call] {
        app.transport.calls.filter { $0.head.path?.hasPrefix("/users/") == true }
    }

    private func keys(_ app: Instance) throws -> [String] {
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        return writes(app).compactMap { $0.head.headerFields[name] }
    }

    private func send(_ app: Instance) async {
        await app.outbox.send(of: ada, within: .seconds(30))
    }

    /// Sends what is pending, as if its delay were over.
    private func sendAgain(_ app: Instance) async throws {
        for change in try await app.outbox.changes(of: ada) {
            try await app.outbox.retry(change, of: ada)
        }
        await send(app)
    }

    @Test("An offline choice is visible at once and sent at the next launch")
    func offline() async throws {
        let (store, vault) = (InMemoryStorageAdapter(), InMemorySecretStoreAdapter())
        let app = try Instance(.json(ServiceJSON.grant(1)), on: store, secrets: vault)
        _ = try await app.accounts.signIn(email, password: "engine")
        try await app.favourites.save(favourite)
        try await app.ratings.save(rating)
        await send(app)
        #expect(try await app.favourites.favourites(of: ada) == [favourite])
        #expect(try await app.ratings.ratings(of: ada) == [rating])
        let waiting = try await app.outbox.changes(of: ada)
        #expect(waiting.map(\.subject) == [.favourite, .rating])
        #expect(waiting.allSatisfy { !$0.isRefused && $0.restaurant == favourite.restaurant })

        let next = try Instance(
            .status(.noContent),
            .status(.noContent),
            on: store,
            secrets: vault
        )
        try await sendAgain(next)
        #expect(
            Set(writes(next).map { "\($0.head.method) \($0.head.path ?? "")" })
                == ["PUT /users/me/favourites/r-1", "PUT /users/me/ratings/r-1"]
        )
        #expect(
            writes(next).allSatisfy { $0.head.headerFields[.authorization] == "Bearer access-1" }
        )
        #expect(writes(next).contains { $0.text.contains(#""stars":4"#) })
        #expect(try await next.outbox.changes(of: ada) == [])
        await send(next)
        #expect(writes(next).count == 2)
    }

    @Test("A choice and its removal are sent in order")
    func order() async throws {
        let app = try Instance(
            .json(ServiceJSON.grant(1)),
            .status(.noContent),
            .status(.noContent)
        )
        _ = try await app.accounts.signIn(email, password: "engine")
        try await app.favourites.save(favourite)
        try await app.favourites.remove(favourite.restaurant, of: ada)
        await send(app)
        #expect(writes(app).map(\.head.method) == [.put, .delete])
        #expect(try await app.favourites.favourites(of: ada) == [])
    }

    @Test("A write with a lost response is sent again with its key")
    func lostAnswer() async throws {
        let app = try Instance(
            .json(ServiceJSON.grant(1)),
            .failure(TransportError(.connectionLost)),
            .status(.noContent)
        )
        _ = try await app.accounts.signIn(email, password: "engine")
        try await app.favourites.save(favourite)
        await send(app)
        #expect(try await app.outbox.changes(of: ada).map(\.isRefused) == [false])
        try await sendAgain(app)
        #expect(try keys(app).count == 2)
        #expect(try Set(keys(app)).count == 1)
        #expect(try await app.outbox.changes(of: ada) == [])
    }

    @Test("A rejected write is shown, and is sent again with a new key or dropped")
    func refused() async throws {
        let app = try Instance(
            .json(ServiceJSON.grant(1)),
            .status(.notFound),
            .status(.notFound)
        )
        _ = try await app.accounts.signIn(email, password: "engine")
        try await app.favourites.save(favourite)
        await send(app)
        let refused = try #require(try await app.outbox.changes(of: ada).first)
        #expect(refused.state == .refused("The service responded with status 404."))

        try await app.outbox.retry(refused, of: ada)
        #expect(try await app.outbox.changes(of: ada).first?.isRefused == false)
        await send(app)
        #expect(try Set(keys(app)).count == 2)

        try await app.outbox.discard(refused, of: ada)
        #expect(try await app.outbox.changes(of: ada) == [])
        #expect(try await app.favourites.favourites(of: ada) == [favourite])
        let error = await #expect(throws: DomainError.self) {
            try await app.outbox.discard(refused, of: ada)
        }
        #expect(error?.cause != nil)
    }

    @Test("A user's choice is never sent on behalf of another user")
    func users() async throws {
        let app = try Instance(
            .json(ServiceJSON.grant(1)),
            .status(.noContent),
            .json(ServiceJSON.grant(2, user: ServiceJSON.bob))
        )
        // Without a signed-in user, it is stored only on this device.
        try await app.ratings.save(rating)
        _ = try await app.accounts.signIn(email, password: "engine")
        try await app.favourites.save(favourite)
        // Another user of this device.
        let bob = try UserID("bob")
        try await app.favourites.save(
            Favourite(user: bob, restaurant: favourite.restaurant, since: day(0))
        )
        #expect(try await app.outbox.changes(of: bob) == [])
        _ = try await app.accounts.signOut()
        _ = try await app.accounts.signIn(EmailAddress("bob@example.com"), password: "lantern")
        await send(app)
        await app.outbox.send(of: bob, within: .seconds(30))
        #expect(writes(app).isEmpty)
        #expect(try await app.outbox.changes(of: ada).map(\.subject) == [.favourite])
    }

    @Test("A choice waits if the service has ended the session")
    func sessionEnded() async throws {
        let app = try Instance(
            .json(ServiceJSON.grant(1)),
            .status(.unauthorized),
            .status(.unauthorized),
            .json(ServiceJSON.grant(2)),
            .status(.noContent)
        )
        _ = try await app.accounts.signIn(email, password: "engine")
        try await app.favourites.save(favourite)
        await send(app)
        #expect(try await app.accounts.signedInUser() == nil)
        #expect(try await app.outbox.changes(of: ada).map(\.isRefused) == [false])
        _ = try await app.accounts.signIn(email, password: "engine")
        try await sendAgain(app)
        #expect(writes(app).last?.head.headerFields[.authorization] == "Bearer access-2")
        #expect(try await app.outbox.changes(of: ada) == [])
    }

    @Test("The real service applies a write once even if its first response is lost")
    func realService() async throws {
        let lines = ["r-1", "r-2"].map {
            ServiceJSON.restaurant($0, "Three Gulls").replacing("\n", with: " ")
        }
        let catalogue = try RestaurantCatalogue(
            Array(lines.joined(separator: "\n").utf8),
            file: "test.jsonl"
        )
        let told = Lines()
        let server = RestaurantAPIServer(catalogue, hasHiccups: true) { told.add($0) }
        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup { group in
            group.addTask {
                // If it cannot start, its port is not awaited.
                defer { started.finish() }
                try await server.run(port: 0) { started.yield($0) }
            }
            var port = ports.makeAsyncIterator()
            let number = try #require(await port.next())
            let address = try #require(URL(string: "http://127.0.0.1:\(number)"))
            let network = KeelConfiguration.production("Test", api: address).makeNetwork()
            let app = try Instance(
                ScriptedHTTPTransport([]),
                over: network.transport,
                address,
                on: InMemoryStorageAdapter()
            )
            _ = try await app.accounts.signIn(email, password: "engine")
            try await app.favourites.save(favourite)
            try await app.favourites.save(
                Favourite(user: ada, restaurant: try RestaurantID("r-9"), since: day(0))
            )
            await send(app)
            let first = try await app.outbox.changes(of: ada).filter { !$0.isRefused }
            #expect(first.map(\.restaurant.text) == ["r-1"])
            for change in first { try await app.outbox.retry(change, of: ada) }
            await send(app)
            let left = try await app.outbox.changes(of: ada)
            #expect(left.map(\.restaurant.text) == ["r-9"])
            #expect(left.map(\.isRefused) == [true])
            await network.transport.shutdown()
            group.cancelAll()
        }
        let writes = told.all.filter { $0.contains("r-1") }
        #expect(
            writes == [
                "ada: PUT favourites r-1: applied, but the answer is lost",
                "ada: PUT favourites r-1: not applied again: it has a known key",
            ]
        )
        #expect(told.all.contains("ada: PUT favourites r-9: refused with 404"))
    }
}
