#if os(Linux)
import Foundation
import KeelCore
import KeelLocation
import KeelTestKit
import KeelTestSupport
import Testing

@Suite(
    "A real gpsd fed by a track",
    .serialized,
    .timeLimit(.minutes(3)),
    .enabled(if: RealGPSD.program != nil, "gpsd is not installed: Scripts/setup.sh test")
)
struct RealGPSDTests {
    private func adapter(
        _ gpsd: RealGPSD,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> GPSDLocationAdapter {
        GPSDLocationAdapter(
            .init(
                port: gpsd.port,
                reconnection: RetryPolicy(
                    baseDelay: .milliseconds(5),
                    maximumDelay: .milliseconds(100)
                )
            ),
            clock: clock
        )
    }

    @Test("The fixes match the track")
    func fixes() async throws {
        let gpsd = try RealGPSD()
        defer { gpsd.stop() }
        gpsd.show(.spatial)
        let adapter = adapter(gpsd)
        var fixes = LocationService(adapter).fixes().makeAsyncIterator()
        var last: LocationFix?
        for _ in 0..<20 {
            let fix = try #require(try await fixes.next())
            let second = Int(fix.time.timeIntervalSince(NMEATrack.noon).rounded())
            let place = NMEATrack.place(second)
            #expect(abs(fix.coordinate.latitude - place.latitude) < 1e-6)
            #expect(abs(fix.coordinate.longitude - place.longitude) < 1e-6)
            if let last { #expect(fix.time >= last.time) }
            last = fix
        }
        // Values that gpsd derives over more than one second arrive later.
        while let fix = last, fix.altitude == nil || fix.speed == nil || fix.course == nil {
            last = try await fixes.next()
        }
        let fix = try #require(last)
        #expect(fix.altitude == NMEATrack.altitude)
        #expect(abs((fix.speed ?? 0) - 10) < 0.01)
        #expect(fix.course == 45)
        #expect(adapter.statistics.malformedLineCount == 0)
    }

    @Test("The mode changes from searching to 2D, to 3D, and back to none")
    func modes() async throws {
        let gpsd = try RealGPSD()
        defer { gpsd.stop() }
        let reports = Reports()
        let end = adapter(gpsd).monitor(.init(), report: reports.take)
        defer { end() }
        await reports.wait { $0.contains("searching") }
        gpsd.show(.flat)
        await reports.wait { $0.last == "fix" }
        #expect(reports.fixes.last?.altitude == nil)
        gpsd.show(.spatial)
        await reports.wait { _ in reports.fixes.last?.altitude != nil }
        #expect(reports.fixes.last?.altitude == NMEATrack.altitude)
        gpsd.show(.flat)
        await reports.wait { _ in reports.fixes.last?.altitude == nil }
        gpsd.show(NMEATrack.Scene.none)
        await reports.wait { $0.last == "searching" }
    }

    @Test("The position becomes stale and then lost when the receiver falls silent")
    func stale() async throws {
        let gpsd = try RealGPSD()
        defer { gpsd.stop() }
        gpsd.show(.spatial)
        let clock = TestClock()
        let location = LocationService(adapter(gpsd), configuration: .init(clock: clock))
        var states = location.states.makeAsyncIterator()
        while let state = await states.next(), !state.isFixed {}
        gpsd.show(nil)
        // A fix that is still on its way costs another iteration, or replaces a state that has been seen.
        var seen = location.state
        try await waitUntil {
            if clock.sleeperCount > 0 { await clock.advance(by: .seconds(10)) }
            seen = location.state
            return seen?.isFixed != true
        }
        guard case .stale(_, age: .seconds(10))? = seen
        else { return fail("\(String(describing: seen))") }
        try await waitUntil {
            // Once the position is lost, nothing sleeps any more.
            if clock.sleeperCount > 0 { await clock.advance(by: .seconds(50)) }
            seen = location.state
            return seen?.fix == nil
        }
        guard case .lost(_, because: .signalLost)? = seen
        else { return fail("\(String(describing: seen))") }
        gpsd.show(.spatial)
        while let state = await states.next(), !state.isFixed {}
        #expect(location.state?.isFixed == true)
    }

    @Test("A killed gpsd is disconnected, and reconnected when it is back")
    func killed() async throws {
        let gpsd = try RealGPSD()
        defer { gpsd.stop() }
        gpsd.show(.spatial)
        let adapter = adapter(gpsd)
        let location = LocationService(adapter)
        var states = location.states.makeAsyncIterator()
        while let state = await states.next(), !state.isFixed {}
        for count in 2...4 {
            gpsd.kill()
            var state = await states.next()
            while let known = state, known.fix != nil { state = await states.next() }
            guard case .lost(_, because: .disconnected)? = state
            else { return fail("\(String(describing: state))") }
            try gpsd.start()
            while let state = await states.next(), !state.isFixed {}
            #expect(adapter.statistics.connectionCount >= count)
        }
    }

    @Test("A gpsd that starts later is found")
    func later() async throws {
        let gpsd = try RealGPSD()
        defer { gpsd.stop() }
        gpsd.kill()
        let reports = Reports()
        let end = adapter(gpsd).monitor(.init(), report: reports.take)
        defer { end() }
        await reports.wait { $0.first == "disconnected" }
        gpsd.show(.spatial)
        try gpsd.start()
        await reports.wait { $0.last == "fix" }
        #expect(reports.fixes.last?.coordinate.latitude ?? 0 > 59)
    }
}
#endif
