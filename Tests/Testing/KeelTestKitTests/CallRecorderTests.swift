import KeelTestKit
import Testing

@Suite("CallRecorder", .timeLimit(.minutes(2)))
struct CallRecorderTests {
    enum UserServiceError: Error, Hashable {
        case notFound
        case offline
        case cancelled
    }

    struct User: Hashable, Sendable {
        var id: String
        var name: String
    }

    protocol UserService: Sendable {
        func user(id: String) async throws(UserServiceError) -> User
        func find(id: String) async throws(UserServiceError) -> User?
        func delete(id: String) async throws(UserServiceError)
        func isKnown(id: String) throws(UserServiceError) -> Bool
    }

    struct StubUserService: UserService {
        enum Call: Hashable {
            case user(id: String)
            case find(id: String)
            case delete(id: String)
            case isKnown(id: String)
        }

        let calls: CallRecorder<Call, UserServiceError>
        var users: [String: User] = [:]

        func user(id: String) async throws(UserServiceError) -> User {
            try await calls.answer(.user(id: id)) { () throws(UserServiceError) in
                guard let user = users[id] else { throw .notFound }
                return user
            }
        }

        func find(id: String) async throws(UserServiceError) -> User? {
            try await calls.answer(.find(id: id)) { users[id] }
        }

        func delete(id: String) async throws(UserServiceError) {
            try await calls.record(.delete(id: id))
        }

        func isKnown(id: String) throws(UserServiceError) -> Bool {
            try calls.answerAtOnce(.isKnown(id: id)) { users[id] != nil }
        }
    }

    private let ann = User(id: "1", name: "Ann")
    private let eve = User(id: "2", name: "Eve")

    private func service(
        _ clock: any Clock<Duration> = ContinuousClock(),
        cancellation: UserServiceError? = .cancelled
    ) -> StubUserService {
        StubUserService(
            calls: CallRecorder(clock: clock, cancellation: cancellation),
            users: ["1": ann]
        )
    }

    @Test("Calls are recorded in order with their arguments and answered as usual")
    func records() async throws {
        let service = service()
        #expect(try await service.user(id: "1") == ann)
        #expect(try await service.find(id: "2") == nil)
        try await service.delete(id: "1")
        #expect(try service.isKnown(id: "1"))
        await #expect(throws: UserServiceError.notFound) { try await service.user(id: "2") }
        #expect(
            service.calls.all == [
                .user(id: "1"), .find(id: "2"), .delete(id: "1"), .isKnown(id: "1"), .user(id: "2"),
            ]
        )
        #expect(service.calls.count == 5 && service.calls.last == .user(id: "2"))
    }

    @Test("A script answers successive calls, and a reaction answers the rest")
    func scripts() async throws {
        let service = service()
        service.calls.script([.fail(.offline), nil])
        service.calls.script([.answer(eve)])
        service.calls.react { call in
            call == .user(id: "9") ? .answer(User(id: "9", name: "Nine")) : nil
        }
        await #expect(throws: UserServiceError.offline) { try await service.user(id: "1") }
        #expect(try await service.user(id: "1") == ann)
        #expect(try await service.user(id: "1") == eve)
        #expect(try await service.user(id: "1") == ann)
        #expect(try await service.user(id: "9").name == "Nine")
        service.calls.script([.fail(.offline), .fail(.offline), .answer(false)])
        await #expect(throws: UserServiceError.offline) { try await service.delete(id: "1") }
        #expect(throws: UserServiceError.offline) { try service.isKnown(id: "1") }
        #expect(try service.isKnown(id: "1") == false)
        service.calls.script([.answer(eve), .answer(eve as User?)])
        #expect(try await service.find(id: "1") == eve)
        #expect(try await service.find(id: "1") == eve)
        service.calls.reset()
        #expect(service.calls.all.isEmpty && service.calls.last == nil)
        await #expect(throws: UserServiceError.notFound) { try await service.user(id: "9") }
    }

    @Test("A call is recorded before its delay on the recorder's clock")
    func delays() async throws {
        let clock = TestClock()
        let service = service(clock)
        service.calls.script([.delay(.seconds(2)), .delay(.seconds(3), then: .fail(.offline))])
        let first = Task { try await service.user(id: "1") }
        await clock.waitForSleepers()
        #expect(service.calls.all == [.user(id: "1")])
        await clock.advance(by: .seconds(2))
        #expect(try await first.value == ann)
        let second = Task { try await service.delete(id: "1") }
        await clock.advance(by: .seconds(3), onceAsleep: 1)
        await #expect(throws: UserServiceError.offline) { try await second.value }
        service.calls.script([.delay(.seconds(1), then: .delay(.seconds(1), then: .answer(true)))])
        #expect(try service.isKnown(id: "7"))
    }

    @Test("A call that is cancelled during a delay throws the double's error or continues")
    func cancels() async throws {
        let clock = TestClock()
        let strict = service(clock)
        strict.calls.script([.delay(.seconds(2))])
        let call = Task { try await strict.user(id: "1") }
        await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: UserServiceError.cancelled) { try await call.value }
        let patient = service(clock, cancellation: nil)
        patient.calls.script([.delay(.seconds(2), then: .answer(eve))])
        let other = Task { try await patient.user(id: "1") }
        await clock.waitForSleepers()
        other.cancel()
        #expect(try await other.value == eve)
        let anything = CallRecorder<Int, any Error>(clock: clock)
        anything.script([.delay(.seconds(2))])
        let third = Task { try await anything.record(1) }
        await clock.waitForSleepers()
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
    }

    @Test("A test can wait for calls, and a cancelled wait throws")
    func waits() async throws {
        let service = service()
        let waiting = Task { try await service.calls.waitForCalls(2) }
        _ = try await service.find(id: "1")
        _ = try await service.find(id: "2")
        _ = try await service.find(id: "3")
        #expect(try await waiting.value == [.find(id: "1"), .find(id: "2")])
        #expect(try await service.calls.waitForCalls(0).isEmpty)
        let hopeless = Task { try await service.calls.waitForCalls(4) }
        hopeless.cancel()
        await #expect(throws: CancellationError.self) { try await hopeless.value }
    }

    @Test("Concurrent calls are all recorded, and each reaction is used once")
    func isSafe() async {
        let recorder = CallRecorder<Int, UserServiceError>()
        recorder.script(Array(repeating: .fail(.offline), count: 40))
        let failures = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    do throws(UserServiceError) {
                        try await recorder.record(number)
                        return false
                    } catch { return error == .offline }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 40)
        #expect(Set(recorder.all) == Set(0..<200) && recorder.count == 200)
    }

    @Test("A double that cannot fail records calls too")
    func cannotFail() async {
        let recorder = CallRecorder<String, Never>()
        await recorder.record("a")
        #expect(await recorder.answer("b") { 7 } == 7)
        #expect(recorder.all == ["a", "b"])
    }
}
