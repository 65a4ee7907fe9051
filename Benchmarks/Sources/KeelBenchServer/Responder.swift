import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// Responds to requests with prepared bytes, so that the server costs little.
///
/// | path | response |
/// |---|---|
/// | `/small` | 256 bytes |
/// | `/typical` | 256 bytes, with the header fields of a usual service |
/// | `/fresh` | the same, reusable for a day |
/// | `/after/N` | nothing, after N milliseconds |
/// | `/json` | a list of 20 objects, about 3 KB |
/// | `/bytes/N` | N bytes |
/// | `/count` | the number of received bytes, in digits |
/// | `/slow/NAME` | nothing, after 5 ms, and after 100 ms for one in each hundred requests |
/// | anything else | the received body |
final class Responder: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    static let name = "responder"

    private static let slow = Mutex<[String: SlowRequests]>([:])
    private static let small = ByteBuffer(repeating: UInt8(ascii: "x"), count: 256)
    private static let piece = ByteBuffer(repeating: UInt8(ascii: "x"), count: 1 << 16)
    private static let json = ByteBuffer(
        string: "["
            + (0..<20).map { number in
                #"{"id":"place-\#(number)","name":"Place number \#(number)","rating":4.5,"#
                    + #""priceLevel":\#(number % 4),"tags":["quiet","garden"],"#
                    + #""address":{"street":"Long Street \#(number)","city":"Springfield"}}"#
            }.joined(separator: ",") + "]"
    )

    private var target = ""
    private var body = ByteBuffer()
    private var count = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            target = head.uri
            body.clear()
            count = 0
        case .body(var piece):
            count += piece.readableBytes
            if target != "/count" { body.writeBuffer(&piece) }
        case .end:
            answer(context)
        }
    }

    private func answer(_ context: ChannelHandlerContext) {
        if target == "/small" {
            send(Self.small, "application/octet-stream", context)
        } else if target == "/json" {
            send(Self.json, "application/json", context)
        } else if target.hasPrefix("/bytes/"), let count = Int(target.dropFirst(7)) {
            write(head: "application/octet-stream", length: count, context)
            stream(count, context)
        } else if target == "/count" {
            send(ByteBuffer(string: "\(count)"), "application/json", context)
        } else if target == "/typical" {
            send(Self.small, "application/json; charset=utf-8", context, Self.typical)
        } else if target == "/fresh" {
            let fields = Self.typical + [("Cache-Control", "max-age=86400")]
            send(Self.small, "application/json; charset=utf-8", context, fields)
        } else if target.hasPrefix("/after/"), let delay = Int64(target.dropFirst(7)) {
            answer(after: .milliseconds(delay), context)
        } else if target.hasPrefix("/slow/") {
            answerSlowly(context)
        } else {
            send(body, "application/octet-stream", context)
        }
    }

    private func answerSlowly(_ context: ChannelHandlerContext) {
        let isSlow = Self.slow.withLock { $0[target, default: SlowRequests()].next() }
        answer(after: .milliseconds(isSlow ? 100 : 5), context)
    }

    private func answer(after delay: TimeAmount, _ context: ChannelHandlerContext) {
        let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: delay) {
            let (responder, context) = loopBound.value
            responder.send(ByteBuffer(), "application/octet-stream", context)
        }
    }

    /// The time at which the server started, as a header field has it (RFC 9110, section 5.6.7).
    private static let started: String = {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: Date())
    }()

    /// The header fields that services add to their responses.
    private static let typical = [
        ("Date", started),
        ("Server", "nginx"),
        ("Connection", "keep-alive"),
        ("ETag", #"W/"5e0f-9Kd0TtZ8mJqXc4bN1yW2pQ""#),
        ("Vary", "Accept-Encoding, Origin"),
        ("Strict-Transport-Security", "max-age=31536000; includeSubDomains"),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Content-Security-Policy", "default-src 'none'"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Request-Id", "7f1c5d3e-2b7a-4d0f-9c55-0a8a4f1d2e3b"),
        ("X-RateLimit-Limit", "5000"),
        ("X-RateLimit-Remaining", "4987"),
    ]

    private func send(
        _ buffer: ByteBuffer,
        _ type: String,
        _ context: ChannelHandlerContext,
        _ fields: [(String, String)] = []
    ) {
        write(head: type, length: buffer.readableBytes, context, fields)
        context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func write(
        head type: String,
        length: Int,
        _ context: ChannelHandlerContext,
        _ fields: [(String, String)] = []
    ) {
        let headers = HTTPHeaders(
            [("Content-Type", type), ("Content-Length", "\(length)")] + fields
        )
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
    }

    /// Writes a long body in pieces, each after the previous one was sent.
    private func stream(_ left: Int, _ context: ChannelHandlerContext) {
        guard left > 0 else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return
        }
        let count = min(left, Self.piece.readableBytes)
        let piece = Self.piece.getSlice(at: 0, length: count) ?? ByteBuffer()
        let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(piece)))).whenSuccess {
            let (responder, context) = loopBound.value
            responder.stream(left - count, context)
        }
    }
}

/// Marks one request in each hundred as slow, at a random position.
private struct SlowRequests {
    private var number = 0
    private var slow = 0

    mutating func next() -> Bool {
        if number.isMultiple(of: 100) { slow = number + .random(in: 0..<100) }
        defer { number += 1 }
        return number == slow
    }
}
