/// A file for swift-log's `StreamLogHandler`, with one call of the system for each record.
///
/// It is leaner than the stream that `StreamLogHandler` has for the standard output, which goes
/// through the C library's buffer and flushes it each time.
struct PeerFileStream: TextOutputStream {
    let file: AppendingFile

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = file.append(UnsafeRawBufferPointer($0)) }
    }
}
