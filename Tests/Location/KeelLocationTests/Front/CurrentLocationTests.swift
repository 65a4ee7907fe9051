import KeelCore
import KeelLocation
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Current location", .timeLimit(.minutes(2)))
struct CurrentLocationTests {
    private let clock = TestClock()
    private let adapter = ScriptedLocationAdapter()

    private var location: LocationService {
        LocationService(adapter, configuration: .init(clock: clock))
    }

    @Test("The first sufficiently accurate fix is returned, and monitoring ends")
    func accurate() async throws {
        let location = location
        let finding = Task { try await location.currentLocation(accuracy: 20) }
        await adapter.waitForMonitors(1)
        adapter.send(.fix(try fix(1, 2)))
        adapter.send(.fix(try fix(1, 3, accuracy: 100)))
        adapter.send(.fix(try fix(1, 4, accuracy: 20)))
        #expect(try await finding.value == fix(1, 4, accuracy: 20))
        await adapter.waitForMonitors(0)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A current fix is returned at once, and a stale one is not")
    func present() async throws {
        let location = location
        try await location.startMonitoring()
        adapter.send(.fix(try fix(1, 2)))
        #expect(try await location.currentLocation() == fix(1, 2))
        await clock.advance(by: .seconds(10), onceAsleep: 1)
        // The task that notices the age may be on another thread.
        try await waitUntil { location.state?.isFixed == false }
        let finding = Task { try await location.currentLocation() }
        await clock.waitForSleepers(2)
        adapter.send(.fix(try fix(1, 3)))
        #expect(try await finding.value == fix(1, 3))
        #expect(adapter.totalMonitorCount == 1)
    }

    @Test("An old fix that the source starts with is not the current location")
    func old() async throws {
        let location = location
        let finding = Task { try await location.currentLocation() }
        await adapter.waitForMonitors(1)
        adapter.send(.fix(try fix(1, 2), age: .seconds(600)))
        adapter.send(.fix(try fix(1, 3)))
        #expect(try await finding.value == fix(1, 3))
    }

    @Test("After the timeout, the error states the best accuracy that was reached")
    func timesOut() async throws {
        let location = location
        let finding = Task { try await location.currentLocation(accuracy: 5, timeout: .seconds(9)) }
        await adapter.waitForMonitors(1)
        adapter.send(.fix(try fix(1, 2, accuracy: 35)))
        adapter.send(.fix(try fix(1, 2, accuracy: 50)))
        // One for the timeout, one for the age of the fix.
        await clock.advance(by: .seconds(9), onceAsleep: 2)
        let error = await expectError(LocationError.self, .timedOut) { try await finding.value }
        #expect(error?.message.contains("35") == true)
        await adapter.waitForMonitors(0)
    }

    @Test("A disconnected source is waited for and is the cause of the timeout")
    func outOfReach() async throws {
        adapter.setFailure(LocationError(.disconnected, "gpsd is out of reach."))
        let location = location
        let finding = Task { try await location.currentLocation(timeout: .seconds(3)) }
        await clock.waitForSleepers()
        await adapter.waitForMonitors(1)
        await clock.advance(by: .seconds(3))
        let error = await expectError(LocationError.self, .timedOut) { try await finding.value }
        #expect((error?.cause as? LocationError)?.code == .disconnected)
        let patient = Task { try await location.currentLocation(timeout: .seconds(3)) }
        await adapter.waitForMonitors(1)
        adapter.setFailure(nil)
        adapter.send(.fix(try fix(1, 2)))
        #expect(try await patient.value == fix(1, 2))
    }

    @Test("A refusal is thrown at once, before and during the wait")
    func refusal() async throws {
        let denied = LocationService(ScriptedLocationAdapter(permission: .denied))
        await expectError(LocationError.self, .permissionDenied) {
            try await denied.currentLocation()
        }
        let location = location
        let finding = Task { try await location.currentLocation() }
        await adapter.waitForMonitors(1)
        adapter.setPermission(.restricted)
        await expectError(LocationError.self, .permissionRestricted) { try await finding.value }
    }

    @Test("A cancelled call throws a cancellation, and monitoring ends")
    func cancelled() async {
        let location = location
        let finding = Task { try await location.currentLocation() }
        await adapter.waitForMonitors(1)
        finding.cancel()
        let error = await #expect(throws: LocationError.self) { try await finding.value }
        #expect(error?.isCancellation == true)
        await adapter.waitForMonitors(0)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await location.currentLocation()
        }
        let same = await #expect(throws: LocationError.self) { try await early.value }
        #expect(same?.isCancellation == true)
        #expect(adapter.totalMonitorCount == 1)
    }

    @Test("Invalid arguments are rejected")
    func arguments() async {
        let location = location
        for (accuracy, timeout) in [(0.0, 1), (-1, 1), (.nan, 1), (1, 0), (1, -1)] {
            await expectError(LocationError.self, .invalidArgument) {
                try await location.currentLocation(accuracy: accuracy, timeout: .seconds(timeout))
            }
        }
        #expect(adapter.totalMonitorCount == 0)
    }
}
