#if canImport(CoreLocation) && !os(tvOS)
internal import CoreLocation
internal import Foundation

/// An adapter for Apple's CoreLocation.
///
/// Everything happens on the main actor, where CoreLocation's managers need a run loop; reports come
/// there. Each monitoring has a manager of its own, for as long as it lasts. The app's `Info.plist`
/// needs `NSLocationWhenInUseUsageDescription`, and for ``LocationPermission/Scope/always`` also
/// `NSLocationAlwaysAndWhenInUseUsageDescription`; without them the system asks nobody.
///
/// Accuracies are CoreLocation's, which hold for about 68 % of fixes. A position that the system
/// had in store is reported with its age. tvOS has no continuous positions and no such adapter.
public struct CoreLocationAdapter: LocationAdapter {
    /// Creates an adapter; no manager is made yet.
    public init() {}

    public func capabilities() async -> LocationCapabilities {
        let permission = await permission()
        return LocationCapabilities(
            kind: .coreLocation,
            features: [.asksPermission, .asksForAlways, .adjustsAccuracy],
            problem: permission.refusal?.code
        )
    }

    public func permission() async -> LocationPermission {
        await MainActor.run { LocationPermission(CLLocationManager().authorizationStatus) }
    }

    public func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission {
        guard let permission = await CoreLocationQuestion(scope).answer() else {
            throw .cancellation
        }
        return permission
    }

    public func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void {
        let session = CoreLocationSession(request, report)
        Task { @MainActor in session.start() }
        return {
            session.close()
            Task { @MainActor in session.stop() }
        }
    }
}

extension LocationPermission {
    /// Says what a status of CoreLocation means.
    init(_ status: CLAuthorizationStatus) {
        switch status {
        case .notDetermined: self = .notDetermined
        case .restricted: self = .restricted
        case .denied: self = .denied
        case .authorizedAlways: self = .always
        #if !os(macOS)
        case .authorizedWhenInUse: self = .whenInUse
        #endif
        // A status of a later system: what is not known to be allowed is not.
        @unknown default: self = .denied
        }
    }
}
#endif
