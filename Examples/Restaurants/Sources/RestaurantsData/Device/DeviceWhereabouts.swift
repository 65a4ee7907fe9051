public import KeelLocation
public import RestaurantsDomain

/// The device's position, from its location source.
public struct DeviceWhereabouts: WhereaboutsRepository {
    /// The accuracy, in metres, that suffices to find nearby restaurants.
    static let accuracy = 500.0

    private let location: LocationService
    private let patience: Duration

    /// Creates a repository.
    ///
    /// - Parameters:
    ///   - location: The device's position.
    ///   - patience: The maximum time to wait for it.
    public init(_ location: LocationService, patience: Duration = .seconds(10)) {
        self.location = location
        self.patience = patience
    }

    public func currentPlace() async throws(DomainError) -> Coordinate {
        do throws(LocationError) {
            guard try await location.requestPermission().isGranted else {
                throw LocationError(.permissionDenied, "The user denied permission.")
            }
            let fix = try await location.currentLocation(
                accuracy: Self.accuracy,
                timeout: patience
            )
            let place = fix.coordinate
            guard let place = Coordinate(latitude: place.latitude, longitude: place.longitude)
            else { throw LocationError(.invalidArgument, "The position is not on the globe.") }
            return place
        } catch {
            throw DomainError(error.meaning, cause: error)
        }
    }
}

extension LocationError {
    /// The domain error for this failure.
    fileprivate var meaning: DomainError.Kind {
        switch code {
        case .permissionDenied, .permissionRestricted, .permissionNotDetermined: .locationRefused
        case .cancelled: .cancelled
        default: .locationUnknown
        }
    }
}
