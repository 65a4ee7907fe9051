#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// System calls on open files, repeated until they have done all of their work or fail.
///
/// Failures are error numbers; zero means success.
package enum DescriptorCalls {
    /// Reads bytes at an offset; returns fewer only at the end of the file, or on failure.
    package static func read(
        _ descriptor: Int32,
        at offset: Int,
        count: Int
    ) -> (bytes: [UInt8], failure: Int32) {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            while filled < count {
                let length = pread(
                    descriptor,
                    buffer.baseAddress.map { $0 + filled },
                    count - filled,
                    off_t(offset + filled)
                )
                if length == 0 { return }
                if length > 0 {
                    filled += length
                } else if errno != EINTR {
                    failure = errno
                    return
                }
            }
        }
        return (bytes, failure)
    }

    /// Writes all bytes at an offset, or at the descriptor's position.
    package static func writeAll(
        _ descriptor: Int32,
        _ bytes: UnsafeRawBufferPointer,
        at offset: Int? = nil
    ) -> Int32 {
        var done = 0
        while done < bytes.count {
            let (start, count) = (bytes.baseAddress.map { $0 + done }, bytes.count - done)
            let length =
                if let offset {
                    pwrite(descriptor, start, count, off_t(offset + done))
                } else {
                    write(descriptor, start, count)
                }
            if length >= 0 {
                done += length
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    /// Makes written bytes, or the names in a folder, survive a power failure.
    package static func sync(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        // On Darwin, fsync leaves the bytes in the drive's cache. Not every volume supports F_FULLFSYNC.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
        #endif
        while fsync(descriptor) != 0 {
            if errno != EINTR { return errno }
        }
        return 0
    }
}
