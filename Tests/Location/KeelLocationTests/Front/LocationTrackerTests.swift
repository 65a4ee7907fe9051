import Foundation
import KeelLocation
import KeelTestSupport
import Testing

@testable import struct KeelLocation.LocationTracker

@Suite("Location state tracking")
struct LocationTrackerTests {
    private var tracker = LocationTracker(staleAfter: .seconds(10), lostAfter: .seconds(60))

    private func date(_ second: Double) -> Date { Date(timeIntervalSince1970: second) }

    private mutating func take(_ event: LocationEvent, at second: Double) -> LocationState {
        _ = tracker.take(event, at: .seconds(second), date: date(second))
        return tracker.state
    }

    private mutating func pass(_ second: Double) -> LocationState {
        _ = tracker.pass(to: .seconds(second), date: date(second))
        return tracker.state
    }

    @Test("A fix becomes stale, and then the position is lost")
    mutating func ages() throws {
        let fix = try fix(1, 2)
        #expect(tracker.state == .searching)
        #expect(tracker.deadline == nil)
        #expect(take(.fix(fix), at: 5) == .fixed(fix))
        #expect(tracker.deadline == .seconds(15))
        #expect(pass(14.9) == .fixed(fix))
        #expect(pass(15) == .stale(fix, age: .seconds(10)))
        #expect(tracker.deadline == .seconds(65))
        #expect(pass(64) == .stale(fix, age: .seconds(10)))
        #expect(pass(66) == .lost(since: date(66), because: .signalLost))
        #expect(tracker.deadline == nil)
        #expect(tracker.lastFix == fix)
    }

    @Test("A newer fix extends the deadline, also from stale and lost")
    mutating func renews() throws {
        _ = take(.fix(try fix(1, 2)), at: 0)
        let second = try fix(1, 3)
        #expect(take(.fix(second), at: 9) == .fixed(second))
        #expect(pass(10) == .fixed(second))
        _ = pass(19)
        #expect(take(.fix(second), at: 20) == .fixed(second))
        _ = pass(80)
        #expect(take(.fix(second), at: 81) == .fixed(second))
    }

    @Test("A time jump past both deadlines loses the position at once")
    mutating func leaps() throws {
        _ = take(.fix(try fix(1, 2)), at: 0)
        #expect(pass(1_000) == .lost(since: date(1_000), because: .signalLost))
    }

    @Test("An old fix keeps its age and is not a live fix")
    mutating func old() throws {
        let fix = try fix(1, 2)
        let updates = tracker.take(.fix(fix, age: .seconds(30)), at: .seconds(100), date: date(100))
        #expect(tracker.state == .stale(fix, age: .seconds(30)))
        #expect(tracker.deadline == .seconds(130))
        #expect(updates.count == 1)
        #expect(take(.fix(fix, age: .seconds(-5)), at: 101) == .fixed(fix))
    }

    @Test("Searching loses an existing position, and without one the state stays searching")
    mutating func searches() throws {
        #expect(take(.searching, at: 1) == .searching)
        _ = take(.fix(try fix(1, 2)), at: 2)
        #expect(take(.searching, at: 3) == .lost(since: date(3), because: .signalLost))
        #expect(take(.searching, at: 9) == .lost(since: date(3), because: .signalLost))
    }

    @Test("The time of the loss is kept when its reason changes")
    mutating func reasons() throws {
        let broken = LocationError(.disconnected, "It broke.")
        #expect(take(.failure(broken), at: 1) == .lost(since: date(1), because: .disconnected))
        #expect(tracker.failure?.code == .disconnected)
        #expect(take(.searching, at: 2) == .searching)
        #expect(tracker.failure == nil)
        _ = take(.fix(try fix(1, 2)), at: 3)
        #expect(take(.failure(broken), at: 4) == .lost(since: date(4), because: .disconnected))
        #expect(take(.searching, at: 5) == .lost(since: date(4), because: .signalLost))
        #expect(pass(1_000) == .lost(since: date(4), because: .signalLost))
    }

    @Test("Equal fixes are each reported as fixes, not as states")
    mutating func equal() throws {
        let fix = try fix(1, 2)
        _ = take(.fix(fix), at: 1)
        let updates = tracker.take(.fix(fix), at: .seconds(2), date: date(2))
        #expect(updates.count == 1)
        guard case .fix? = updates.first else { return fail("\(updates)") }
        #expect(tracker.deadline == .seconds(12))
    }
}
