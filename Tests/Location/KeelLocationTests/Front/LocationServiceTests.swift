import Foundation
import KeelCore
import KeelLocation
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Location service", .timeLimit(.minutes(2)))
struct LocationServiceTests {
    private let clock = TestClock()
    private let adapter = ScriptedLocationAdapter()

    private func service(_ adapter: (any LocationAdapter)? = nil) -> LocationService {
        LocationService(
            adapter ?? self.adapter,
            configuration: .init(
                clock: clock,
                now: { [clock] in Date(timeIntervalSince1970: clock.elapsed / .seconds(1)) }
            )
        )
    }

    @Test("The states follow the source and the time")
    func states() async throws {
        let location = service()
        var states = location.states.makeAsyncIterator()
        #expect(await states.next() == .searching)
        let fix = try fix(1, 2)
        adapter.send(.fix(fix))
        #expect(await states.next() == .fixed(fix))
        await clock.advance(by: .seconds(10), onceAsleep: 1)
        #expect(await states.next() == .stale(fix, age: .seconds(10)))
        await clock.advance(by: .seconds(50), onceAsleep: 1)
        let moment = Date(timeIntervalSince1970: 60)
        #expect(await states.next() == .lost(since: moment, because: .signalLost))
        #expect(location.lastFix == fix)
        adapter.setFailure(LocationError(.disconnected, "It broke."))
        #expect(await states.next() == .lost(since: moment, because: .disconnected))
        adapter.setFailure(nil)
        adapter.send(.fix(fix))
        while let state = await states.next(), state != .fixed(fix) {}
        #expect(location.state == .fixed(fix))
    }

    @Test("A fix after a stale one becomes stale in turn")
    func staleAgain() async throws {
        let location = service()
        var states = location.states.makeAsyncIterator()
        #expect(await states.next() == .searching)
        let (first, second) = (try fix(1, 2), try fix(3, 4))
        adapter.send(.fix(first))
        #expect(await states.next() == .fixed(first))
        await clock.advance(by: .seconds(10), onceAsleep: 1)
        #expect(await states.next() == .stale(first, age: .seconds(10)))
        // The sleep until the position counts as lost would be too late for the next one.
        await clock.advance(by: .seconds(5), onceAsleep: 1)
        adapter.send(.fix(second))
        #expect(await states.next() == .fixed(second))
        await clock.advance(by: .seconds(10))
        #expect(await states.next() == .stale(second, age: .seconds(10)))
    }

    @Test(
        "A slow reader of states gets the newest one, and a new reader starts with the current one"
    )
    func newest() async throws {
        let location = service()
        var slow = location.states.makeAsyncIterator()
        for number in 0..<50 { adapter.send(.fix(try fix(1, Double(number)))) }
        #expect(await slow.next() == .fixed(try fix(1, 49)))
        var late = location.states.makeAsyncIterator()
        #expect(await late.next() == .fixed(try fix(1, 49)))
        #expect(adapter.totalMonitorCount == 1)
    }

    @Test("A slow reader of fixes gets the newest 64")
    func bounded() async throws {
        var fixes = service().fixes().makeAsyncIterator()
        for number in 0..<100 { adapter.send(.fix(try fix(1, Double(number)))) }
        for number in 36..<100 {
            #expect(try await fixes.next()?.coordinate.longitude == Double(number))
        }
    }

    @Test("Fixes are filtered by distance for each reader")
    func filtered() async throws {
        let location = service()
        var far = location.fixes(minimumDistance: 100).makeAsyncIterator()
        var all = location.fixes().makeAsyncIterator()
        for number in 0..<10 { adapter.send(.fix(try fix(Double(number) * 0.0005, 0))) }
        for number in stride(from: 0, to: 10, by: 2) {
            #expect(try await far.next() == fix(Double(number) * 0.0005, 0))
        }
        for number in 0..<10 { #expect(try await all.next() == fix(Double(number) * 0.0005, 0)) }
    }

    @Test("Nothing is monitored without readers, unless requested")
    func economy() async throws {
        let location = service()
        _ = location.states
        _ = location.fixes()
        #expect(adapter.totalMonitorCount == 0)
        #expect(location.state == nil)
        let readers = (0..<3).map { _ in Task { for await _ in location.states {} } }
        await adapter.waitForMonitors(1)
        for reader in readers {
            reader.cancel()
            await reader.value
        }
        #expect(adapter.monitorCount == 0)
        try await location.startMonitoring()
        try await location.startMonitoring()
        #expect(adapter.monitorCount == 1)
        #expect(location.state == .searching)
        location.stopMonitoring()
        #expect(adapter.monitorCount == 0)
        #expect(adapter.totalMonitorCount == 2)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A released service ends its monitoring")
    func goesAway() async throws {
        do {
            let location = service()
            try await location.startMonitoring()
            adapter.send(.fix(try fix(1, 2)))
            #expect(adapter.monitorCount == 1)
        }
        await adapter.waitForMonitors(0)
    }

    @Test("A sequence ends with its reading task, without affecting others")
    func taskEnds() async throws {
        let location = service()
        var other = location.states.makeAsyncIterator()
        _ = await other.next()
        let reading = Task { () -> Int in
            var count = 0
            for try await _ in location.fixes() { count += 1 }
            return count
        }
        reading.cancel()
        #expect(try await reading.value == 0)
        adapter.send(.fix(try fix(1, 2)))
        #expect(await other.next()?.isFixed == true)
    }

    @Test("Fixes continue after transient failures and throw a lasting one")
    func failures() async throws {
        let adapter = ScriptedLocationAdapter(permission: .whenInUse)
        var fixes = service(adapter).fixes().makeAsyncIterator()
        adapter.setFailure(LocationError(.disconnected, "It broke."))
        adapter.setFailure(nil)
        adapter.send(.fix(try fix(1, 2)))
        #expect(try await fixes.next() == fix(1, 2))
        adapter.setPermission(.denied)
        await expectError(LocationError.self, .permissionDenied) { try await fixes.next() }
        #expect(try await fixes.next() == nil)
        #expect(adapter.monitorCount == 0)
    }

    @Test("Region entries and exits alternate, even for a reader that misses fixes")
    func regions() async throws {
        let here = try LocationRegion(
            id: "here",
            center: LocationCoordinate(latitude: 0, longitude: 0),
            radius: 1_000
        )
        let location = service()
        var events = try location.regionEvents([here]).makeAsyncIterator()
        adapter.send(.fix(try fix(0, 0)))
        #expect(try await events.next()?.kind == .entered)
        // Out, in and out again, without a reader.
        for longitude in [1, 0, 1] { adapter.send(.fix(try fix(0, Double(longitude)))) }
        let exit = try await events.next()
        #expect(exit?.kind == .exited)
        #expect(exit?.fix.coordinate.longitude == 1)
        adapter.send(.fix(try fix(0, 0.001)))
        #expect(try await events.next()?.kind == .entered)
        let error = #expect(throws: LocationError.self) { try location.regionEvents([here, here]) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("Permission is requested once, and only if it can be granted")
    func permission() async throws {
        let adapter = ScriptedLocationAdapter(permission: .notDetermined, answering: .always)
        let location = service(adapter)
        await expectError(LocationError.self, .permissionNotDetermined) {
            try await location.startMonitoring()
        }
        #expect(adapter.permissionRequestCount == 0)
        #expect(try await location.requestPermission(.always) == .always)
        #expect(try await location.requestPermission().isGranted)
        #expect(adapter.permissionRequestCount == 1)
        #expect(await location.permission() == .always)
        let free = service()
        #expect(try await free.requestPermission(.always) == .notRequired)
    }

    @Test("An unavailable source reports its error for each call")
    func unavailable() async {
        let location = LocationService(unavailable: LocationError(.unsupported, "There is none."))
        #expect(await location.capabilities().problem == .unsupported)
        await expectError(LocationError.self, .unsupported) { try await location.currentLocation() }
        await #expect(throws: LocationError.self) { for try await _ in location.fixes() {} }
        await #expect(throws: LocationError.self) { try await location.requestPermission() }
        var states = location.states.makeAsyncIterator()
        guard case .lost(_, because: .unsupported)? = await states.next()
        else { return fail("\(String(describing: location.state))") }
    }
}
