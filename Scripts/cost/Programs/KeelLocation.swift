import KeelLocation

let location = LocationService.platformDefault()
print(try await location.currentLocation(timeout: .seconds(10)))
