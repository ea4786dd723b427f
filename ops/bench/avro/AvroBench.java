import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/**
 * Avro's own library in `./dev bench avro`. The argument is a folder with both schemas and the data. Each line that comes
 * names an operation and how often it goes through all records; the answer is how long that took, in nanoseconds,
 * and a sum over the outcome. Encoders, decoders and buffers are used again, as its documentation advises; records
 * are not, because whoever reads them keeps them.
 */
public final class AvroBench {
    private final List<byte[]> data = new ArrayList<>();
    private final List<GenericRecord> records = new ArrayList<>();
    private final GenericDatumWriter<GenericRecord> writer;
    private final GenericDatumReader<GenericRecord> same;
    private final GenericDatumReader<GenericRecord> evolved;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private BinaryEncoder encoder;
    private BinaryDecoder decoder;

    private AvroBench(Path folder) throws IOException {
        Schema written = new Schema.Parser().parse(Files.readString(folder.resolve("writer.avsc")));
        Schema read = new Schema.Parser().parse(Files.readString(folder.resolve("reader.avsc")));
        writer = new GenericDatumWriter<>(written);
        same = new GenericDatumReader<>(written, written);
        evolved = new GenericDatumReader<>(written, read);
        ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(folder.resolve("data")));
        while (all.hasRemaining()) {
            byte[] datum = new byte[all.getInt()];
            all.get(datum);
            data.add(datum);
            records.add(same.read(null, DecoderFactory.get().binaryDecoder(datum, null)));
        }
    }

    private long encode() throws IOException {
        long bytes = 0;
        for (GenericRecord record : records) {
            out.reset();
            encoder = EncoderFactory.get().binaryEncoder(out, encoder);
            writer.write(record, encoder);
            encoder.flush();
            bytes += out.size();
        }
        return bytes;
    }

    private long decode(GenericDatumReader<GenericRecord> reader, int sequence) throws IOException {
        long sum = 0;
        for (byte[] datum : data) {
            decoder = DecoderFactory.get().binaryDecoder(datum, decoder);
            sum += (Long) reader.read(null, decoder).get(sequence);
        }
        return sum;
    }

    private long once(String operation) throws IOException {
        return switch (operation) {
            case "encode" -> encode();
            case "decode" -> decode(same, same.getSchema().getField("sequence").pos());
            case "evolved" -> decode(evolved, evolved.getExpected().getField("sequence").pos());
            default -> throw new IllegalArgumentException(operation);
        };
    }

    public static void main(String[] arguments) throws IOException {
        AvroBench bench = new AvroBench(Path.of(arguments[0]));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            long sum = 0;
            long begun = System.nanoTime();
            for (int pass = Integer.parseInt(words[1]); pass > 0; pass--) {
                sum += bench.once(words[0]);
            }
            System.out.println((System.nanoTime() - begun) + " " + sum);
        }
    }
}
