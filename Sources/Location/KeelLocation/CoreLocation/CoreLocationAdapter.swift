#if canImport(CoreLocation) && !os(tvOS)
internal import CoreLocation
internal import Foundation

/// An adapter for Apple's Core Location.
///
/// Reports are on the main actor. The app's `Info.plist` needs `NSLocationWhenInUseUsageDescription`, and for
/// ``LocationPermission/Scope/always`` also `NSLocationAlwaysAndWhenInUseUsageDescription`; without them the system
/// does not ask the user, and a request waits until its task is canceled. If the app has access while in use, a request
/// for ``LocationPermission/Scope/always`` does not wait for the answer.
///
/// Accuracies are Core Location's, which hold for about 68 % of fixes. A cached position is reported with its age.
public struct CoreLocationAdapter: LocationAdapter {
    /// Creates an adapter.
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
    init(_ status: CLAuthorizationStatus) {
        switch status {
        case .notDetermined: self = .notDetermined
        case .restricted: self = .restricted
        case .denied: self = .denied
        case .authorizedAlways: self = .always
        #if !os(macOS)
        case .authorizedWhenInUse: self = .whenInUse
        #endif
        // Treat an unknown status of a later system as not allowed.
        @unknown default: self = .denied
        }
    }
}
#endif
