public import Foundation
internal import Synchronization

// The part of Apple's CoreLocation that the adapter calls, over a device that a test holds in its
// hands. It follows the documentation of CLLocationManager and shows that the adapter compiles, asks
// in the right order and reads what it is told; how a real device behaves it cannot show.

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
    func locationManager(
        _ manager: CLLocationManager,
        didUpdateLocations locations: [CLLocation]
    )
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)
}

// Optional there.
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
            // Soon after, and not within the call.
            guard delegate != nil else { return }
            let manager = Unchecked(self)
            Task { @MainActor in manager.value.tellAuthorization() }
        }
    }

    public var desiredAccuracy: CLLocationAccuracy = kCLLocationAccuracyBest

    /// As on iOS; whether it does anything depends on the system.
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

/// What crosses to the main actor, where all managers live.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// The device that all managers are on, in the hands of a test.
public final class Device: Sendable {
    // `@unchecked`, because managers are touched by the main actor alone.
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

    /// Sets everything back.
    public func reset(_ status: CLAuthorizationStatus, answer: CLAuthorizationStatus?) {
        state.withLock { state in
            state.status = status
            state.answer = answer
            state.askedCount = 0
        }
    }

    public var status: CLAuthorizationStatus { state.withLock { $0.status } }

    public var askedCount: Int { state.withLock { $0.askedCount } }

    /// How many managers update their delegates.
    public var updatingCount: Int {
        state.withLock { state in
            state.entries.values.count { $0.isUpdating && $0.manager?.delegate != nil }
        }
    }

    /// The accuracies that the managers which update were asked for.
    @MainActor public var accuracies: [CLLocationAccuracy] { updating.map(\.desiredAccuracy) }

    /// How many of the managers that update may be paused by the system.
    @MainActor public var pausingCount: Int {
        updating.count { $0.pausesLocationUpdatesAutomatically }
    }

    /// The user decides, or changes what was decided.
    @MainActor public func decide(_ status: CLAuthorizationStatus) {
        state.withLock { $0.status = status }
        for manager in managers { manager.tellAuthorization() }
    }

    /// The device has moved.
    @MainActor public func move(to location: CLLocation) {
        for manager in updating {
            manager.delegate?.locationManager(manager, didUpdateLocations: [location])
        }
    }

    /// Something has failed.
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
