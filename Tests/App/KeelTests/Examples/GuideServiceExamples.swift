import Foundation
import HTTPTypes
import Keel
import KeelTestKit
import Synchronization
import Testing

#if Logging
import KeelLogging
import Logging

private struct User: Codable, Identifiable, Hashable, Sendable {
    var id: String
    var name: String
    var email: String
}

private protocol UserService: Sendable {
    func fetchUser(id: String) async throws(UserServiceError) -> User
    func updateUser(_ user: User) async throws(UserServiceError) -> User
    func deleteUser(id: String) async throws(UserServiceError)
    func searchUsers(query: String) async throws(UserServiceError) -> [User]
}

private enum UserServiceError: LocalizedError, Hashable {
    case userNotFound, invalidUserData, duplicateEmail, accountLocked
    case signedOut, unreachable, cancelled, failed

    var errorDescription: String? {
        switch self {
        case .userNotFound: "There is no such user."
        case .invalidUserData: "The data of the user are not complete."
        case .duplicateEmail: "Somebody uses this e-mail address already."
        case .accountLocked: "The account is locked."
        case .signedOut: "You are not signed in."
        case .unreachable: "The service cannot be reached."
        case .cancelled: "The call was cancelled."
        case .failed: "The service failed."
        }
    }

    var recoverySuggestion: String? {
        switch self {
        case .userNotFound: "Check the user's id and try again."
        case .invalidUserData: "Fill in all fields that are marked."
        case .duplicateEmail: "Try another e-mail address."
        case .accountLocked: "Ask the support to unlock your account."
        case .signedOut: "Sign in, then try again."
        case .unreachable: "Check the network connection, then try again."
        case .cancelled: nil
        case .failed: "Try again later."
        }
    }
}

extension UserServiceError {
    init(_ error: any Error) {
        switch error {
        case let error as NetworkError: self.init(error)
        case is CancellationError: self = .cancelled
        default: self = .failed
        }
    }

    private init(_ error: NetworkError) {
        switch (error.code, error.status) {
        case (.notFound, _): self = .userNotFound
        case (.unauthorized, _): self = .signedOut
        case (_, 409?): self = .duplicateEmail
        case (_, 422?): self = .invalidUserData
        case (_, 423?): self = .accountLocked
        case (.cancelled, _): self = .cancelled
        default: self = error.isTransient ? .unreachable : .failed
        }
    }
}

private struct RemoteUserService: UserService {
    private let network: NetworkClient
    private let cache: Cache<String, User>
    private let logger: Logger
    private let timeout: Duration

    init(
        network: NetworkClient,
        cache: Cache<String, User>,
        logger: Logger = Logger(label: "users"),
        timeout: Duration = .seconds(30)
    ) {
        self.network = network
        self.cache = cache
        self.logger = logger
        self.timeout = timeout
    }

    func fetchUser(id: String) async throws(UserServiceError) -> User {
        try await mapped {
            try await cache.value(for: id, expiry: .minutes(5)) { [network, logger, timeout] in
                logger.debug("Fetching a user from the network")
                return try await network.get("/users/\(id)", timeout: timeout)
            }
        }
    }

    func updateUser(_ user: User) async throws(UserServiceError) -> User {
        try await mapped {
            let path: EndpointPath = "/users/\(user.id)"
            let saved = try await network.put(path, body: user, as: User.self, timeout: timeout)
            await cache.set(saved, for: saved.id, expiry: .minutes(5))
            return saved
        }
    }

    func deleteUser(id: String) async throws(UserServiceError) {
        try await mapped {
            try await network.delete("/users/\(id)", timeout: timeout)
            try await cache.remove(id)
        }
    }

    func searchUsers(query: String) async throws(UserServiceError) -> [User] {
        try await mapped {
            try await network.get("/users", query: ["q": query], timeout: timeout)
        }
    }

    private func mapped<Value>(
        _ operation: () async throws -> Value
    ) async throws(UserServiceError) -> Value {
        do {
            return try await operation()
        } catch {
            let failure = UserServiceError(error)
            if failure == .failed { logger.logError("A call of the users failed", error: error) }
            throw failure
        }
    }
}

private final class MockUserService: UserService {
    private struct State {
        var users: [String: User]
        var failures: [UserServiceError] = []
        var fetchedIDs: [String] = []
    }

    private let state: Mutex<State>

    init(_ users: [User] = []) {
        state = Mutex(State(users: Dictionary(users.map { ($0.id, $0) }) { $1 }))
    }

    var fetchedIDs: [String] { state.withLock { $0.fetchedIDs } }

    func fail(with failures: UserServiceError...) {
        state.withLock { $0.failures += failures }
    }

    func fetchUser(id: String) async throws(UserServiceError) -> User {
        try state.withLock { state throws(UserServiceError) in
            state.fetchedIDs.append(id)
            if !state.failures.isEmpty { throw state.failures.removeFirst() }
            guard let user = state.users[id] else { throw .userNotFound }
            return user
        }
    }

    func updateUser(_ user: User) async throws(UserServiceError) -> User {
        state.withLock { $0.users[user.id] = user }
        return user
    }

    func deleteUser(id: String) async throws(UserServiceError) {
        state.withLock { $0.users[id] = nil }
    }

    func searchUsers(query: String) async throws(UserServiceError) -> [User] {
        state.withLock { $0.users.values.filter { $0.name.contains(query) } }
    }
}

private struct CompositeUserService {
    let local: any UserService
    let remote: any UserService
    let keep: @Sendable (User) async throws -> Void

    func fetchUser(id: String) async throws(UserServiceError) -> User {
        if let known = try? await local.fetchUser(id: id) { return known }
        let user = try await remote.fetchUser(id: id)
        try? await keep(user)
        return user
    }
}

@Suite("Guide: the service layer")
struct GuideServiceExamples {
    private let api = URL(string: "https://api.example.com") ?? .temporaryDirectory

    private static let ada = #"{"id":"1","name":"Ada","email":"ada@example.com"}"#

    private func service(
        _ answers: [ScriptedHTTPTransport.Answer],
        _ cache: Cache<String, User> = Cache()
    ) -> (RemoteUserService, ScriptedHTTPTransport) {
        let transport = ScriptedHTTPTransport(answers)
        var configuration = NetworkClient.Configuration(baseURL: api)
        configuration.retry.baseDelay = .zero
        let network = NetworkClient(configuration, transport: transport)
        return (RemoteUserService(network: network, cache: cache), transport)
    }

    @Test("A cached user needs no request")
    func fetchUserFromCache() async throws {
        let transport = ScriptedHTTPTransport()
        let cache = Cache<String, User>()
        await cache.set(User(id: "1", name: "Cached", email: "cached@test.com"), for: "1")
        let network = NetworkClient(baseURL: api, transport: transport)
        let service = RemoteUserService(network: network, cache: cache)
        let user = try await service.fetchUser(id: "1")
        #expect(user.name == "Cached")
        #expect(transport.calls.isEmpty)
    }

    @Test("A user from the network is in the cache afterwards")
    func fetchUserFromNetwork() async throws {
        let answer = #"{"id":"1","name":"Network","email":"network@test.com"}"#
        let transport = ScriptedHTTPTransport([.json(answer)])
        let cache = Cache<String, User>()
        let network = NetworkClient(baseURL: api, transport: transport)
        let service = RemoteUserService(network: network, cache: cache)
        let user = try await service.fetchUser(id: "1")
        #expect(user.name == "Network")
        #expect(transport.calls.map(\.head.path) == ["/users/1"])
        #expect(cache.peek("1") == user)
    }

    @Test("A user in the cache is asked for again after five minutes")
    func expires() async throws {
        let clock = TestClock()
        let cache = Cache<String, User>(clock: .following(clock))
        let (service, transport) = service([.json(Self.ada), .json(Self.ada)], cache)
        _ = try await service.fetchUser(id: "1")
        await clock.advance(by: .seconds(299))
        _ = try await service.fetchUser(id: "1")
        #expect(transport.calls.count == 1)
        await clock.advance(by: .seconds(1))
        _ = try await service.fetchUser(id: "1")
        #expect(transport.calls.count == 2)
    }

    @Test(
        "What the service answers becomes an error of the users",
        arguments: [
            (404, UserServiceError.userNotFound), (409, .duplicateEmail), (401, .signedOut),
            (422, .invalidUserData), (423, .accountLocked), (418, .failed),
        ]
    )
    private func errors(_ status: Int, _ expected: UserServiceError) async {
        let (service, transport) = service([.status(.init(code: status))])
        let user = User(id: "1", name: "Ada", email: "ada@example.com")
        await #expect(throws: expected) { try await service.updateUser(user) }
        #expect(transport.calls.count == 1)
        #expect(expected.errorDescription != nil && expected.recoverySuggestion != nil)
    }

    @Test("A failure that passes is tried again, a refusal is not")
    func retries() async throws {
        let (service, transport) = service([.status(503), .json(Self.ada), .status(401)])
        #expect(try await service.fetchUser(id: "1").name == "Ada")
        #expect(transport.calls.count == 2)
        await #expect(throws: UserServiceError.signedOut) {
            try await service.searchUsers(query: "A")
        }
        #expect(transport.calls.count == 3)
    }

    @Test("A failed load leaves nothing behind, an update and a removal reach the cache")
    func changes() async throws {
        let cache = Cache<String, User>()
        let (service, _) = service([.status(404), .json(Self.ada), .status(204)], cache)
        await #expect(throws: UserServiceError.userNotFound) {
            try await service.fetchUser(id: "1")
        }
        #expect(cache.peek("1") == nil)
        let ada = User(id: "1", name: "Ada", email: "ada@example.com")
        #expect(try await service.updateUser(ada) == ada)
        #expect(cache.peek("1") == ada)
        try await service.deleteUser(id: "1")
        #expect(cache.peek("1") == nil)
    }

    @Test("The text of a search stays one value of the query")
    func searches() async throws {
        let (service, transport) = service([.json("[\(Self.ada)]")])
        #expect(try await service.searchUsers(query: "A&b=c").map(\.name) == ["Ada"])
        #expect(transport.calls.map(\.head.path) == ["/users?q=A%26b%3Dc"])
    }

    @Test("Your own retry, for a failure of your own")
    func ownRetry() async throws {
        let users = MockUserService([User(id: "1", name: "Ada", email: "ada@example.com")])
        users.fail(with: .unreachable, .unreachable)
        let policy = RetryPolicy(attempts: 3, baseDelay: .zero)
        let load = { (_: Int) async throws(UserServiceError) -> User in
            try await users.fetchUser(id: "1")
        }
        let user = try await withRetry(policy, shouldRetry: { $0 == .unreachable }, operation: load)
        #expect(user.name == "Ada")
        #expect(users.fetchedIDs == ["1", "1", "1"])
    }

    @Test("A double fails, has canned answers and remembers its calls")
    func double() async throws {
        let users = MockUserService([User(id: "1", name: "Test User", email: "test@example.com")])
        #expect(try await users.fetchUser(id: "1").name == "Test User")
        users.fail(with: .accountLocked)
        await #expect(throws: UserServiceError.accountLocked) { try await users.fetchUser(id: "1") }
        #expect(users.fetchedIDs == ["1", "1"])
        #expect(try await users.searchUsers(query: "Test").count == 1)
        try await users.deleteUser(id: "1")
        await #expect(throws: UserServiceError.userNotFound) { try await users.fetchUser(id: "1") }
    }

    @Test("Two services together: the near one first, the far one else")
    func composition() async throws {
        let near = MockUserService()
        let far = MockUserService([User(id: "1", name: "Ada", email: "ada@example.com")])
        let users = CompositeUserService(local: near, remote: far) {
            _ = try await near.updateUser($0)
        }
        #expect(try await users.fetchUser(id: "1").name == "Ada")
        #expect(try await users.fetchUser(id: "1").name == "Ada")
        #expect(far.fetchedIDs == ["1"] && near.fetchedIDs == ["1", "1"])
    }
}
#endif
