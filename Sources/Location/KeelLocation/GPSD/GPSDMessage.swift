internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A message of gpsd, with the fields that the adapter uses: gpsd_json(5).
enum GPSDMessage: Sendable {
    /// The greeting, with the protocol's major version.
    case version(protocolMajor: Int)
    /// The paths of the receivers.
    case devices([String])
    /// The response to a request to watch.
    case watch(isEnabled: Bool)
    /// A report without a position: the receiver is searching.
    case noFix(device: String?)
    /// A report with a position.
    case fix(LocationFix, device: String?)
    /// A receiver that gpsd no longer reads, for example because it was unplugged.
    case closed(device: String)
    /// An error of gpsd.
    case error(String)
    /// Any other message, such as satellites, times, or a receiver connecting.
    case other

    /// Parses a line, with `now` as the time of fixes without one; nil for another text or impossible values.
    static func read(_ line: [UInt8], now: @autoclosure () -> Date) -> GPSDMessage? {
        let decoder = JSONDecoder()
        let data = Data(line)
        guard let head = try? decoder.decode(Head.self, from: data) else { return nil }
        switch head.class {
        case "VERSION":
            guard let version = try? decoder.decode(Version.self, from: data) else { return nil }
            return .version(protocolMajor: version.proto_major)
        case "DEVICES":
            guard let list = try? decoder.decode(Devices.self, from: data) else { return nil }
            return .devices(list.devices.compactMap(\.path))
        case "WATCH":
            guard let watch = try? decoder.decode(Watch.self, from: data) else { return nil }
            return .watch(isEnabled: watch.enable)
        case "TPV":
            guard let position = try? decoder.decode(GPSDPosition.self, from: data) else {
                return nil
            }
            return position.message(now: now())
        case "DEVICE":
            guard let device = try? decoder.decode(Device.self, from: data), !device.isOpen else {
                return .other
            }
            return .closed(device: device.path)
        case "ERROR":
            let text = try? decoder.decode(Failure.self, from: data).message
            return .error(text ?? "unknown")
        default:
            return .other
        }
    }

    private struct Head: Decodable { let `class`: String }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    private struct Version: Decodable { let proto_major: Int }
    private struct Devices: Decodable {
        struct Device: Decodable { let path: String? }
        let devices: [Device]
    }
    private struct Watch: Decodable { let enable: Bool }
    private struct Device: Decodable {
        private enum CodingKeys: String, CodingKey { case path, activated }

        let path: String
        let isOpen: Bool

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            path = try fields.decode(String.self, forKey: .path)
            // The time of its opening, as text or a number; 0 or missing if it is closed.
            let time = try? fields.decode(Double.self, forKey: .activated)
            isOpen = fields.contains(.activated) && time != 0
        }
    }
    private struct Failure: Decodable { let message: String }
}

private struct GPSDPosition: Decodable {
    let device: String?
    /// 0 and 1: no fix, 2: latitude and longitude, 3: also altitude.
    let mode: Int
    let time: String?
    let lat: Double?
    let lon: Double?
    let altMSL: Double?
    /// The altitude from gpsd before 3.20, and from receivers that do not specify its reference.
    let alt: Double?
    let eph: Double?
    let epx: Double?
    let epy: Double?
    let epv: Double?
    let speed: Double?
    let track: Double?

    func message(now: Date) -> GPSDMessage? {
        guard mode >= 2 else { return .noFix(device: device) }
        guard let lat, let lon else { return nil }
        let date = time.flatMap { InternetTime.microseconds(of: $0) }.map { microseconds in
            Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
        }
        let isSpatial = mode >= 3
        do throws(LocationError) {
            let fix = try LocationFix(
                LocationCoordinate(latitude: lat, longitude: lon),
                horizontalAccuracy: eph ?? axes,
                altitude: isSpatial ? altMSL ?? alt : nil,
                verticalAccuracy: isSpatial ? epv : nil,
                speed: speed,
                course: track,
                time: date ?? now
            )
            return .fix(fix, device: device)
        } catch {
            return nil
        }
    }

    /// The error on the ground from those along the axes, if gpsd reports only these.
    private var axes: Double? {
        guard let epx, let epy else { return nil }
        return (epx * epx + epy * epy).squareRoot()
    }
}
