import KeelCore
import KeelLocation
import KeelTestKit
import Synchronization
import Testing

@Suite("Tracks, doubles and decorators of location sources", .timeLimit(.minutes(2)))
struct DoubleTests {
    private let clock = TestClock()

    @Test("A track plays on its clock, from the start for each monitor")
    func track() async throws {
        let fixes = try (0..<3).map { try fix(1, Double($0)) }
        let adapter = ScriptedLocationAdapter(.fixes(fixes, every: .seconds(5)), clock: clock)
        let reports = Reports()
        let end = adapter.monitor(LocationRequest(), report: reports.take)
        await reports.wait { $0 == ["searching", "fix"] }
        await clock.advance(by: .seconds(5), onceAsleep: 1)
        await reports.wait { $0.count == 3 }
        let late = Reports()
        let endLate = adapter.monitor(LocationRequest(), report: late.take)
        await late.wait { $0 == ["searching", "fix"] }
        #expect(late.fixes == [fixes[0]])
        await clock.advance(by: .seconds(5), onceAsleep: 2)
        await reports.wait { $0.count == 4 }
        #expect(reports.fixes == fixes)
        end()
        endLate()
        try await waitUntil { clock.sleeperCount == 0 }
    }

    @Test("A track with pauses can repeat, and one without cannot")
    func endless() async throws {
        let step = LocationTrack.Step(after: .seconds(1), .fix(try fix(1, 2)))
        let adapter = ScriptedLocationAdapter(LocationTrack([step], repeats: true), clock: clock)
        let reports = Reports()
        let end = adapter.monitor(LocationRequest(), report: reports.take)
        for count in 1...5 {
            await clock.advance(by: .seconds(1), onceAsleep: 1)
            await reports.wait { $0.count { $0 == "fix" } == count }
        }
        end()
        let instant = LocationTrack([.init(.fix(try fix(1, 2)))], repeats: true)
        let once = Reports()
        let short = ScriptedLocationAdapter(instant)
        let endOnce = short.monitor(.init(), report: once.take)
        await once.wait { $0 == ["searching", "fix"] }
        endOnce()
    }

    @Test("Calls and reports are recorded in order")
    func records() async throws {
        let adapter = ScriptedLocationAdapter(.fixes([try fix(1, 2)])).recorded()
        let location = LocationService(adapter, configuration: .init(desiredAccuracy: 100))
        #expect(try await location.currentLocation() == fix(1, 2))
        try await location.requestPermission(.whenInUse)
        #expect(
            adapter.calls == [
                .permission, .monitor(LocationRequest(desiredAccuracy: 100)), .end,
                .requestPermission(.whenInUse),
            ]
        )
        #expect(adapter.callCount(of: .monitor) == 1)
        #expect(try adapter.fixes == [fix(1, 2)])
        adapter.forget()
        #expect(adapter.callCount == 0)
    }

    @Test("Faults inject a failure, silence, an interruption and a delay")
    func faults() async throws {
        let fixes = try (0..<5).map { try fix(1, Double($0)) }
        let track = ScriptedLocationAdapter(.fixes(fixes, every: .zero))
        let adapter = track.failing(
            [.fail(.unsupported), .silence, .interrupt(after: 2), .delay(.seconds(4)), .fail()],
            clock: clock
        )
        let failed = Reports()
        adapter.monitor(.init(), report: failed.take)()
        let ends = adapter.monitor(.init(), report: failed.take)
        try await waitUntil { track.monitorCount == 1 }
        ends()
        #expect(failed.words.allSatisfy { $0 == "unsupported" })
        let broken = Reports()
        _ = adapter.monitor(.init(), report: broken.take)
        await broken.wait { $0 == ["searching", "fix", "fix", "disconnected"] }
        await track.waitForMonitors(0)
        let late = Reports()
        let endLate = adapter.monitor(.init(), report: late.take)
        await clock.waitForSleepers()
        #expect(late.events.isEmpty)
        await clock.advance(by: .seconds(4))
        await late.wait { $0.count == 6 }
        endLate()
        await #expect(throws: LocationError.self) {
            try await adapter.requestPermission(.whenInUse)
        }
        #expect(adapter.callCount == 5)
    }

    @Test("Observers see operations and failures, but no positions")
    func observes() async throws {
        let seen = Mutex<[LocationObservation]>([])
        let track = ScriptedLocationAdapter(permission: .notDetermined, answering: .always)
        let adapter = track.failing([.fail(.unknown)])
            .observed(clock: clock) { use in seen.withLock { $0.append(use) } }
        await #expect(throws: LocationError.self) { try await adapter.requestPermission(.always) }
        track.setPermission(.always)
        let reports = Reports()
        let end = adapter.monitor(.init(), report: reports.take)
        await track.waitForMonitors(1)
        track.send(.fix(try fix(12.5, 33.25)))
        track.setFailure(LocationError(.disconnected, "It broke."))
        await clock.advance(by: .seconds(7))
        end()
        end()
        let uses = seen.withLock { $0 }
        #expect(uses.map(\.operation) == [.requestPermission, .failure, .monitor])
        #expect(uses.map(\.failure) == [.unknown, .disconnected, nil])
        #expect(uses.map(\.fixCount) == [0, 1, 1])
        #expect(uses.last?.duration == .seconds(7))
        #expect(!"\(uses)".contains("12.5") && !"\(uses)".contains("33.25"))
    }
}
