import HTTPTypes
import KeelCore
import KeelHTTP
import KeelStorage
import KeelStorageFirestore

/// The status of a gRPC call, sent in its trailers.
struct GRPCStatus: Sendable {
    /// The maximum size of a message and of the details, in bytes; clients accept 8 KiB of fields.
    private static let mostBytes = 2_000

    let trailers: HTTPFields

    static let ok = GRPCStatus(number: 0, message: "", details: nil)

    private init(number: Int64, message: String, details: [UInt8]?) {
        var fields = HTTPFields()
        fields[.grpcStatus] = "\(number)"
        if !message.isEmpty { fields[.grpcMessage] = Self.encoded(message) }
        if let details, details.count <= Self.mostBytes {
            fields[.grpcStatusDetails] = String(Base64.encode(details).prefix { $0 != "=" })
        }
        trailers = fields
    }

    /// Creates a status with the same details as over REST.
    init(_ failure: ServingFailure) {
        let number = failure.status.number
        let error = FirestoreEncoding.error(failure.error, status: failure.status)["error"]
        let status = FirestoreJSON.members([
            "code": .integer(number), "message": error?["message"], "details": error?["details"],
        ])
        self.init(
            number: number,
            message: failure.error.message,
            details: try? FirestoreProtobuf.bytes(status, of: "google.rpc.Status")
        )
    }

    init(_ failure: StreamFailure) {
        self.init(number: failure.status.number, message: failure.message, details: nil)
    }

    /// Encodes a message: bytes other than printable ASCII, and the percent sign, as `%` and two digits.
    static func encoded(_ message: String) -> String {
        var text: [UInt8] = []
        for byte in message.utf8 {
            guard text.count < mostBytes else { break }
            if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "%") {
                text.append(byte)
            } else {
                text.append(UInt8(ascii: "%"))
                text += Hexadecimal.text(of: [byte]).uppercased().utf8
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Parses a `grpc-timeout`: up to eight digits and a unit; nil if it is malformed.
    static func timeout(_ text: String) -> Duration? {
        guard let unit = text.last, (2...9).contains(text.utf8.count),
            text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(text.dropLast())
        else { return nil }
        switch unit {
        case "H": return .seconds(number * 3_600)
        case "M": return .seconds(number * 60)
        case "S": return .seconds(number)
        case "m": return .milliseconds(number)
        case "u": return .microseconds(number)
        case "n": return .nanoseconds(number)
        default: return nil
        }
    }
}

extension HTTPReply {
    static func gRPC(_ body: HTTPByteStream) -> HTTPReply {
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = "application/grpc+proto"
        head.headerFields[.grpcAcceptEncoding] = "identity"
        return HTTPReply(head: head, body: body)
    }

    static func gRPC(_ frames: [UInt8], _ status: GRPCStatus) -> HTTPReply {
        .gRPC(.collected(frames, trailers: status.trailers))
    }
}

extension HTTPField.Name {
    static let grpcStatus = known("grpc-status")
    static let grpcMessage = known("grpc-message")
    static let grpcStatusDetails = known("grpc-status-details-bin")
    static let grpcTimeout = known("grpc-timeout")
    static let grpcAcceptEncoding = known("grpc-accept-encoding")
}
