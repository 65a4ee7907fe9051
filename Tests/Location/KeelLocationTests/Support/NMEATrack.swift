import Foundation

/// Creates a receiver's output, second by second: RMC, GGA and GSA sentences of NMEA 0183.
struct NMEATrack: Sendable {
    /// The fix of the receiver.
    enum Scene: Sendable {
        /// No fix.
        case none
        /// Latitude and longitude only.
        case flat
        /// With altitude.
        case spatial
    }

    /// The day of the track: 1 March 2026.
    static let noon = Date(timeIntervalSince1970: 1_772_366_400)

    /// The position at a second of the track, which leads northeast.
    static func place(_ second: Int) -> (latitude: Double, longitude: Double) {
        (59.3 + Double(second) * 0.0001, 18.06 + Double(second) * 0.0002)
    }

    static let altitude = 28.0
    /// In knots, as in NMEA; 10 m/s.
    static let knots = 19.438

    /// The sentences of a second, each with its checksum.
    static func sentences(_ second: Int, _ scene: Scene) -> String {
        let clock = second + 12 * 3_600
        let time = String(format: "%02d%02d%02d.00", clock / 3_600, clock / 60 % 60, clock % 60)
        let hasFix = scene != .none
        let (latitude, longitude) = place(second)
        let position =
            hasFix
            ? "\(degrees(latitude, 2)),N,\(degrees(longitude, 3)),E" : ",,,"
        let height = scene == .spatial ? "\(altitude),M,23.3,M" : ",M,,M"
        let mode =
            switch scene {
            case .none: 1
            case .flat: 2
            case .spatial: 3
            }
        let satellites = hasFix ? "04,05,09,12,24,25,29,31,,,," : ",,,,,,,,,,,"
        let motion = hasFix ? "\(knots),045.0" : ","
        return [
            "GPRMC,\(time),\(hasFix ? "A" : "V"),\(position),\(motion),010326,,,\(hasFix ? "A" : "N")",
            "GPGGA,\(time),\(position),\(hasFix ? 1 : 0),\(hasFix ? "08" : "00"),1.0,\(height),,",
            "GPGSA,A,\(mode),\(satellites),1.8,1.0,1.5",
        ].map(sealed).joined()
    }

    /// Adds the dollar sign, checksum and line end to a sentence.
    static func sealed(_ sentence: String) -> String {
        let sum = sentence.utf8.reduce(0 as UInt8, ^)
        return "$" + sentence + String(format: "*%02X\r\n", sum)
    }

    /// Degrees and minutes in one number, as NMEA writes them.
    private static func degrees(_ value: Double, _ width: Int) -> String {
        let whole = Int(value)
        return String(format: "%0\(width)d%09.6f", whole, (value - Double(whole)) * 60)
    }
}
