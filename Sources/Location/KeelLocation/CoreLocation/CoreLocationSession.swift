#if canImport(CoreLocation) && !os(tvOS)
internal import CoreLocation
internal import Foundation
internal import Synchronization

/// A monitoring of Core Location: a manager and its delegate.
///
/// `@unchecked` because of the manager, which only the main actor uses.
final class CoreLocationSession: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
    private let request: LocationRequest
    private let report: @Sendable (LocationEvent) -> Void
    private let isOver = Atomic<Bool>(false)
    private var manager: CLLocationManager?

    init(_ request: LocationRequest, _ report: @escaping @Sendable (LocationEvent) -> Void) {
        self.request = request
        self.report = report
        super.init()
    }

    @MainActor func start() {
        // Ended before the start.
        guard !isOver.load(ordering: .acquiring) else { return }
        let manager = CLLocationManager()
        manager.desiredAccuracy = request.desiredAccuracy ?? kCLLocationAccuracyBest
        // watchOS has no such property; visionOS is unverified.
        #if !os(watchOS) && !os(visionOS)
        // If paused by the system, a device at rest would seem to have lost its signal.
        manager.pausesLocationUpdatesAutomatically = false
        #endif
        self.manager = manager
        // Core Location reports the permission to a new delegate immediately.
        manager.delegate = self
    }

    /// Suppresses further reports, from any thread.
    func close() { isOver.store(true, ordering: .releasing) }

    @MainActor func stop() {
        manager?.stopUpdatingLocation()
        manager?.delegate = nil
        manager = nil
    }

    private func tell(_ event: LocationEvent) {
        if !isOver.load(ordering: .acquiring) { report(event) }
    }

    // MARK: Delegate

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        let permission = LocationPermission(manager.authorizationStatus)
        if let refusal = permission.refusal {
            manager.stopUpdatingLocation()
            tell(.failure(refusal))
        } else {
            tell(.searching)
            manager.startUpdatingLocation()
        }
    }

    func locationManager(
        _ manager: CLLocationManager,
        didUpdateLocations locations: [CLLocation]
    ) {
        for location in locations {
            // Invalid ones have a negative accuracy.
            guard let fix = LocationFix(location) else { continue }
            let age = max(0, -location.timestamp.timeIntervalSinceNow)
            tell(.fix(fix, age: .seconds(age)))
        }
    }

    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        switch (error as? CLError)?.code {
        case .locationUnknown?:
            // The system keeps trying.
            tell(.searching)
        case .denied?:
            let permission = LocationPermission(manager.authorizationStatus)
            tell(.failure(permission.refusal ?? Self.switchedOff(error)))
        case .network?:
            tell(
                .failure(LocationError(.unavailable, "The network is unreachable.", cause: error))
            )
        default:
            tell(.failure(LocationError(.unknown, "CoreLocation failed.", cause: error)))
        }
    }

    private static func switchedOff(_ error: any Error) -> LocationError {
        LocationError(.permissionDenied, "Location is turned off on this device.", cause: error)
    }
}
#endif
