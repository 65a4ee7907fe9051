/// A file for swift-log's `StreamLogHandler`, with one system call per record.
///
/// It is faster than the stream of `StreamLogHandler` for standard output, which uses the C library's buffer and
/// flushes it each time.
struct PeerFileStream: TextOutputStream {
    let file: AppendingFile

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = file.append(UnsafeRawBufferPointer($0)) }
    }
}
