#if canImport(CoreLocation) && !os(tvOS)
internal import CoreLocation
internal import Foundation
internal import Synchronization

/// A pending permission request, until the user has answered.
///
/// `@unchecked` because of the manager, which only the main actor uses.
final class CoreLocationQuestion: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
    private struct State {
        var continuation: CheckedContinuation<LocationPermission?, Never>?
        var isOver = false
    }

    private let scope: LocationPermission.Scope
    private let state = Mutex(State())
    private var manager: CLLocationManager?

    init(_ scope: LocationPermission.Scope) {
        self.scope = scope
        super.init()
    }

    /// Asks the user, unless already decided; returns the decision, or nil if the task was canceled.
    func answer() async -> LocationPermission? {
        let permission = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.isOver { state.continuation = continuation }
                    return state.isOver
                }
                if isOver { return continuation.resume(returning: nil) }
                Task { @MainActor in ask() }
            }
        } onCancel: {
            finish(nil)
        }
        await MainActor.run {
            manager?.delegate = nil
            manager = nil
        }
        return permission
    }

    @MainActor private func ask() {
        // Canceled in the meantime.
        guard !state.withLock({ $0.isOver }) else { return }
        let manager = CLLocationManager()
        self.manager = manager
        let permission = LocationPermission(manager.authorizationStatus)
        // From "in use" the system can still be asked for "always", but it asks the user at most
        // once and does not report otherwise, so waiting for that answer is impossible.
        if permission == .whenInUse, scope == .always { manager.requestAlwaysAuthorization() }
        guard permission == .notDetermined else { return finish(permission) }
        manager.delegate = self
        switch scope {
        case .whenInUse: manager.requestWhenInUseAuthorization()
        case .always: manager.requestAlwaysAuthorization()
        }
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        let permission = LocationPermission(manager.authorizationStatus)
        // The first call only reports the current status.
        if permission != .notDetermined { finish(permission) }
    }

    private func finish(_ permission: LocationPermission?) {
        state.withLock { state in
            state.isOver = true
            return state.continuation.take()
        }?.resume(returning: permission)
    }
}
#endif
