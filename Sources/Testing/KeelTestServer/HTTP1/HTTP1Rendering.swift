#if TestServer
import HTTPTypes
import KeelTestKit

extension HTTPResponse {
    /// Returns the head in HTTP/1.1 form, with the fields that delimit the body.
    func http1Bytes(_ coding: HTTPTestAnswer.Coding) -> [UInt8] {
        let reason = status.reasonPhrase.isEmpty ? "Unnamed" : status.reasonPhrase
        var bytes = Array("HTTP/1.1 \(status.code) \(reason)\r\n".utf8)
        switch coding {
        case .length(let length) where headerFields[.contentLength] == nil:
            bytes += Array("Content-Length: \(length)\r\n".utf8)
        case .chunked: bytes += Array("Transfer-Encoding: chunked\r\n".utf8)
        case .length, .none, .untilClose: break
        }
        return bytes + headerFields.http1Bytes + Array("\r\n".utf8)
    }
}

extension HTTPFields {
    var http1Bytes: [UInt8] {
        flatMap { Array("\($0.name.rawName): \($0.value)\r\n".utf8) }
    }
}

extension ArraySlice<UInt8> {
    var asChunk: [UInt8] {
        Array(String(count, radix: 16).utf8) + [13, 10] + self + [13, 10]
    }
}
#endif
