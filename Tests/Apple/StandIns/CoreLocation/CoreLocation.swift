public import Foundation
internal import Synchronization

// The part of Apple's CoreLocation that the adapter calls, over a device controlled by tests. It follows the
// documentation of CLLocationManager, and shows that the adapter compiles, calls in the right order and reads the
// results; it cannot show the behavior of a real device.

public typealias CLLocationDegrees = Double
public typealias CLLocationAccuracy = Double

public let kCLLocationAccuracyBest: CLLocationAccuracy = -1

public enum CLAuthorizationStatus: Int32, Sendable {
    case notDetermined
    case restricted
    case denied
    case authorizedAlways
    case authorizedWhenInUse
}

public struct CLError: Error {
    public enum Code: Int, Sendable {
        case locationUnknown
        case denied
        case network
        case headingFailure
    }

    public let code: Code

    public init(_ code: Code) { self.code = code }
}

public struct CLLocationCoordinate2D: Sendable {
    public var latitude: CLLocationDegrees
    public var longitude: CLLocationDegrees

    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

public final class CLLocation: NSObject, Sendable {
    public let coordinate: CLLocationCoordinate2D
    public let altitude: Double
    public let horizontalAccuracy: CLLocationAccuracy
    public let verticalAccuracy: CLLocationAccuracy
    public let course: Double
    public let speed: Double
    public let timestamp: Date

    public init(
        coordinate: CLLocationCoordinate2D,
        altitude: Double,
        horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy,
        course: Double,
        speed: Double,
        timestamp: Date
    ) {
        self.coordinate = coordinate
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.timestamp = timestamp
    }
}

public protocol CLLocationManagerDelegate: AnyObject {
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)
}

// Optional on Apple's systems.
extension CLLocationManagerDelegate {
    public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {}
    public func locationManager(
        _ manager: CLLocationManager,
        didUpdateLocations locations: [CLLocation]
    ) {}
    public func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}
}

public final class CLLocationManager: NSObject {
    public weak var delegate: (any CLLocationManagerDelegate)? {
        didSet {
            // Soon afterwards, not during the call.
            guard delegate != nil else { return }
            let manager = Unchecked(self)
            Task { @MainActor in manager.value.tellAuthorization() }
        }
    }

    public var desiredAccuracy: CLLocationAccuracy = kCLLocationAccuracyBest

    /// As on iOS; its effect depends on the system.
    public var pausesLocationUpdatesAutomatically = true

    public override init() {
        super.init()
        Device.shared.add(self)
    }

    public var authorizationStatus: CLAuthorizationStatus { Device.shared.status }

    public func requestWhenInUseAuthorization() { Device.shared.ask(.authorizedWhenInUse) }

    public func requestAlwaysAuthorization() { Device.shared.ask(.authorizedAlways) }

    public func startUpdatingLocation() { Device.shared.setUpdating(self, true) }

    public func stopUpdatingLocation() { Device.shared.setUpdating(self, false) }

    func tellAuthorization() { delegate?.locationManagerDidChangeAuthorization(self) }
}

@available(*, unavailable)
extension CLLocationManager: Sendable {}

/// A value that is sent to the main actor, on which all managers live.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// The device of all managers, controlled by a test.
public final class Device: Sendable {
    // `@unchecked`, because only the main actor accesses managers.
    private struct Entry: @unchecked Sendable {
        weak var manager: CLLocationManager?
        var isUpdating = false
    }

    private struct State {
        var status = CLAuthorizationStatus.authorizedWhenInUse
        var answer: CLAuthorizationStatus?
        var askedCount = 0
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    public static let shared = Device()

    private let state = Mutex(State())

    /// Resets everything.
    public func reset(_ status: CLAuthorizationStatus, answer: CLAuthorizationStatus?) {
        state.withLock { state in
            state.status = status
            state.answer = answer
            state.askedCount = 0
        }
    }

    public var status: CLAuthorizationStatus { state.withLock { $0.status } }

    public var askedCount: Int { state.withLock { $0.askedCount } }

    /// The number of managers that update their delegates.
    public var updatingCount: Int {
        state.withLock { state in
            state.entries.values.count { $0.isUpdating && $0.manager?.delegate != nil }
        }
    }

    /// The requested accuracies of the updating managers.
    @MainActor public var accuracies: [CLLocationAccuracy] { updating.map(\.desiredAccuracy) }

    /// The number of updating managers that the system may pause.
    @MainActor public var pausingCount: Int {
        updating.count { $0.pausesLocationUpdatesAutomatically }
    }

    /// Simulates a decision of the user, or its change.
    @MainActor public func decide(_ status: CLAuthorizationStatus) {
        state.withLock { $0.status = status }
        for manager in managers { manager.tellAuthorization() }
    }

    /// Simulates a movement of the device.
    @MainActor public func move(to location: CLLocation) {
        for manager in updating {
            manager.delegate?.locationManager(manager, didUpdateLocations: [location])
        }
    }

    /// Simulates a failure.
    @MainActor public func fail(_ error: any Error) {
        for manager in updating {
            manager.delegate?.locationManager(manager, didFailWithError: error)
        }
    }

    func add(_ manager: CLLocationManager) {
        let id = ObjectIdentifier(manager)
        let entry = Entry(manager: manager)
        state.withLock { state in
            state.entries = state.entries.filter { $0.value.manager != nil }
            state.entries[id] = entry
        }
    }

    func setUpdating(_ manager: CLLocationManager, _ isUpdating: Bool) {
        let id = ObjectIdentifier(manager)
        state.withLock { $0.entries[id]?.isUpdating = isUpdating }
    }

    func ask(_ wanted: CLAuthorizationStatus) {
        let answer = state.withLock { state -> CLAuthorizationStatus? in
            guard state.status == .notDetermined else { return nil }
            state.askedCount += 1
            guard let answer = state.answer else { return nil }
            return answer == .authorizedWhenInUse ? wanted : answer
        }
        guard let answer else { return }
        Task { @MainActor in self.decide(answer) }
    }

    private var managers: [CLLocationManager] {
        let found = state.withLock { state in
            Unchecked(state.entries.values.compactMap(\.manager))
        }
        return found.value
    }

    private var updating: [CLLocationManager] {
        let found = state.withLock { state in
            Unchecked(state.entries.values.filter(\.isUpdating).compactMap(\.manager))
        }
        return found.value
    }
}
