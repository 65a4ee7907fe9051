import Foundation
import KeelConformance
import KeelCore
import KeelLocation
import Synchronization

/// An adapter that breaks one promise.
struct BrokenLocationAdapter: LocationAdapter {
    enum Fault: String, CaseIterable, Sendable {
        case hasNoName = "has no name"
        case claimsProblem = "says that it has a problem"
        case claimsToAskNobody = "does not say that it asks"
        case swapsAxes = "takes latitude for longitude"
        case losesSign = "takes west for east"
        case rounds = "rounds to four digits"
        case losesAltitude = "loses the altitude"
        case inventsSpeed = "takes an unknown speed for 0"
        case invertsCourse = "says where one comes from"
        case takesOwnTime = "takes its own time for the receiver's"
        case keepsAccuracy = "keeps the accuracy of the fix before"
        case dropsEveryThird = "drops every third fix"
        case repeatsFixes = "reports each fix twice"
        case dropsEqual = "drops a fix that equals the one before"
        case reportsOld = "reports fixes as old"
        case hidesSearch = "does not say that there is no position"
        case tellsOnlyFirst = "tells only the first who monitors"
        case endsAll = "ends all monitorings with one"
        case staysBehind = "reports the fix before once a monitoring has ended"
        case goesOn = "goes on after the end"
        case holds = "holds the source after the end"
        case holdsEarly = "holds the source from the beginning"
        case hidesBreak = "does not say that the connection broke"
        case givesUp = "says that a broken connection is for ever"
        case asksUnasked = "asks when it is monitored"
        case hidesRefusal = "does not say that the user has refused"
        case throwsRefusal = "throws when the user refuses"

        /// The group that must notice, so that checks fail for the right promise.
        var group: LocationAdapterCheck.Group {
            switch self {
            case .hasNoName, .claimsProblem, .claimsToAskNobody: .capabilities
            case .swapsAxes, .losesSign, .rounds: .coordinates
            case .losesAltitude, .inventsSpeed, .invertsCourse, .takesOwnTime, .keepsAccuracy:
                .details
            case .dropsEveryThird, .repeatsFixes, .dropsEqual, .reportsOld: .order
            case .hidesSearch: .searching
            case .tellsOnlyFirst, .endsAll, .staysBehind: .sharing
            case .goesOn, .holds, .holdsEarly: .ending
            case .hidesBreak, .givesUp: .connection
            case .asksUnasked, .hidesRefusal, .throwsRefusal: .permission
            }
        }
    }

    /// The state that all monitors of one adapter share.
    private final class Memory: Sendable {
        struct State {
            var monitorCount = 0
            var fixCount = 0
            var last: [Int: LocationFix] = [:]
            var ends: [@Sendable () -> Void] = []
            var hasEnded = false
        }

        let state = Mutex(State())
    }

    let fault: Fault
    private let track: ScriptedLocationAdapter
    private let memory = Memory()

    init(_ fault: Fault, _ track: ScriptedLocationAdapter) {
        self.fault = fault
        self.track = track
        if fault == .holdsEarly { _ = track.monitor(LocationRequest()) { _ in } }
    }

    func capabilities() async -> LocationCapabilities {
        var capabilities = await track.capabilities()
        switch fault {
        case .hasNoName: capabilities.kind = .init(name: "")
        case .claimsProblem: capabilities.problem = .unavailable
        case .claimsToAskNobody: capabilities.features = []
        default: break
        }
        return capabilities
    }

    func permission() async -> LocationPermission { await track.permission() }

    func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission {
        let permission = try await track.requestPermission(scope)
        if fault == .throwsRefusal, let refusal = permission.refusal { throw refusal }
        return permission
    }

    func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void {
        if fault == .asksUnasked { track.setPermission(.whenInUse) }
        let number = memory.state.withLock { state in
            state.monitorCount += 1
            return state.monitorCount
        }
        let end = track.monitor(request) { [self] event in
            for event in changed(event, number) { report(event) }
        }
        memory.state.withLock { $0.ends.append(end) }
        switch fault {
        case .holds, .goesOn: return {}
        case .endsAll:
            return { [memory] in for end in memory.state.withLock({ $0.ends }) { end() } }
        case .staysBehind:
            return { [memory] in
                memory.state.withLock { $0.hasEnded = true }
                end()
            }
        default: return end
        }
    }

    private func changed(_ event: LocationEvent, _ number: Int) -> [LocationEvent] {
        switch event {
        case .searching:
            // The first one passes if only the later ones are hidden.
            return fault == .hidesSearch && memory.state.withLock { $0.fixCount } > 0 ? [] : [event]
        case .failure(let error):
            switch fault {
            case .hidesBreak where error.code == .disconnected: return []
            case .givesUp where error.code == .disconnected:
                return [.failure(LocationError(.unsupported, "It is over."))]
            case .hidesRefusal where error.code == .permissionDenied: return [.searching]
            default: return [event]
            }
        case .fix(let fix, let age): return changed(fix, age, number)
        }
    }

    private func changed(_ fix: LocationFix, _ age: Duration, _ number: Int) -> [LocationEvent] {
        let (count, last, hasEnded) = memory.state.withLock { state in
            state.fixCount += 1
            defer { state.last[number] = fix }
            return (state.fixCount, state.last[number], state.hasEnded)
        }
        switch fault {
        case .dropsEveryThird where count.isMultiple(of: 3): return []
        case .dropsEqual where last == fix: return []
        case .tellsOnlyFirst where number > 1: return []
        case .staysBehind where hasEnded: return [.fix(last ?? fix, age: age)]
        case .repeatsFixes: return [.fix(fix, age: age), .fix(fix, age: age)]
        case .reportsOld: return [.fix(fix, age: .seconds(3_600))]
        default: return [.fix((try? altered(fix, after: last)) ?? fix, age: age)]
        }
    }

    private func altered(_ fix: LocationFix, after last: LocationFix?) throws -> LocationFix {
        var (latitude, longitude) = (fix.coordinate.latitude, fix.coordinate.longitude)
        switch fault {
        case .swapsAxes: (latitude, longitude) = (longitude, latitude)
        case .losesSign: longitude = abs(longitude)
        case .rounds:
            latitude = (latitude * 10_000).rounded() / 10_000
            longitude = (longitude * 10_000).rounded() / 10_000
        default: break
        }
        return try LocationFix(
            LocationCoordinate(latitude: latitude, longitude: longitude),
            horizontalAccuracy: fix.horizontalAccuracy
                ?? (fault == .keepsAccuracy ? last?.horizontalAccuracy : nil),
            altitude: fault == .losesAltitude ? nil : fix.altitude,
            verticalAccuracy: fix.verticalAccuracy,
            speed: fault == .inventsSpeed ? fix.speed ?? 0 : fix.speed,
            course: fault == .invertsCourse
                ? fix.course.map { ($0 + 180).truncatingRemainder(dividingBy: 360) } : fix.course,
            time: fault == .takesOwnTime ? Date() : fix.time
        )
    }
}
